// Where a run's cases come from: read when their turn comes, by several threads at once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "engine/cases/corpus.h"
#include "engine/run/selection.h"

namespace dmlconform::run {

struct CaseSource {
    /// The case at a position; null where none is selected.
    using Reader = std::function<std::shared_ptr<const cases::Case>(std::size_t position)>;

    std::size_t positions = 0;
    /// Makes a reader for one thread.
    std::function<Reader()> reader;
};

/// The corpus and the selector must outlive the source.
[[nodiscard]] CaseSource selected_cases(const cases::Corpus& corpus, const Selector& selector);

/// The cases must outlive the source, and all results.
[[nodiscard]] CaseSource these_cases(std::span<const cases::Case* const> cases);

}  // namespace dmlconform::run
