// The source of a run's cases, which several threads read as needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "engine/cases/corpus.h"
#include "engine/run/selection.h"

namespace dmlconform::run {

struct CaseSource {
    /// Returns the case at a position; null if none is selected there.
    using Reader = std::function<std::shared_ptr<const cases::Case>(std::size_t position)>;
    /// Whether the outputs of an engine will be compared with the reference's for a case.
    using IsCompared = std::function<bool(const cases::Case& subject)>;

    std::size_t positions = 0;
    /// Creates a reader for one thread, with the engines of that thread.
    std::function<Reader(const IsCompared& is_compared)> reader;
};

/// The cases that are made of a graph.
enum class Nodes : std::uint8_t {
    unjudged,  // one case for the graph
    judged,  // one case for each node that can be judged separately, in the order of execution, then one for the graph
};

/// The corpus and the selector must outlive the source. What the cases of a graph share is held within `max_memory`
/// (memory_for_values).
[[nodiscard]] CaseSource selected_cases(const cases::Corpus& corpus, const Selector& selector,
                                        Nodes nodes = Nodes::unjudged,
                                        std::uint64_t max_memory = std::numeric_limits<std::uint64_t>::max());

/// The cases must outlive the source, and all results.
[[nodiscard]] CaseSource these_cases(std::span<const cases::Case* const> cases);

}  // namespace dmlconform::run
