// Minimises failing cases: sizes, attributes, layouts and values.
//
// The method is delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002):
// changes are tried from large to small. A change after which the case still fails is kept. The search ends when no
// change is kept or time is up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "engine/cases/case.h"
#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/run/expected_results.h"
#include "engine/run/result.h"

namespace dmlconform::fuzz {

struct ReduceSettings {
    std::chrono::nanoseconds time = std::chrono::seconds(30);
    /// Called between attempts; true ends the search with the best result so far.
    std::function<bool()> stop_requested = [] { return false; };
    /// Known failures, and the index of this engine among theirs; may be null. A reduced case must not fail in a known
    /// way instead.
    run::ExpectedResults* expected = nullptr;
    std::size_t engine = 0;
    /// The precision that the engine promises.
    core::Precision precision = core::Precision::fp32;
};

struct Reduction {
    cases::Case subject;
    /// The result of the reduced case on the engine.
    run::CaseResult result;
    std::uint64_t attempts = 0;
    /// The number of changes that were kept. 0: the case is unchanged.
    std::uint64_t steps = 0;
    /// False if time was up or the search was stopped, so that a smaller case may exist.
    bool finished = true;
};

/// Minimises a case, which must fail on `engine`. Operators without a reference are compared with the outputs of
/// `other`. It may be null if there is a reference, or for failures before values are compared, such as a wrong
/// rejection. Fails if the case does not fail, or fails only because of its expected values.
[[nodiscard]] core::Result<Reduction> reduce(const cases::Case& subject, Engine& engine, Engine* other,
                                             const ReduceSettings& settings = {});

/// Writes the case to a case file. The file's stem, "reduced", becomes the first part of the id.
[[nodiscard]] core::Result<void> write_reduced(const cases::Case& subject, const std::string& path);

}  // namespace dmlconform::fuzz
