// Making a failing case as small as it can be while it still fails: sizes, attributes, layouts and values.
//
// The way of it is delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002):
// changes are tried from large to small, those after which the case still fails stay, until none does or time is up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/cases/case.h"
#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/run/expected_results.h"
#include "engine/run/result.h"

namespace dmlconform::fuzz {

struct ReduceSettings {
    std::chrono::nanoseconds time = std::chrono::seconds(30);
    /// Asked between attempts; true ends the work with what there is.
    std::function<bool()> stop_requested = [] { return false; };
    /// What is known to fail, and which of its engines this is; may be null. A case does not become smaller by failing
    /// as it is known to.
    run::ExpectedResults* expected = nullptr;
    std::size_t engine = 0;
};

struct Reduction {
    cases::Case subject;
    /// What became of it on the engine.
    run::CaseResult result;
    std::uint64_t attempts = 0;
    /// Attempts after which the case still failed. 0: it is as it was.
    std::uint64_t steps = 0;
    /// False when time was up, or it was stopped: it might have become smaller still.
    bool finished = true;
};

/// The case must fail on `engine`. Operators without a reference are compared with what `other` computes; it may be
/// null for those with one, and for failures before any values are compared, a wrong rejection for one. An error when
/// the case does not fail, or fails only by the values that it expects.
[[nodiscard]] core::Result<Reduction> reduce(const cases::Case& subject, Engine& engine, Engine* other,
                                             const ReduceSettings& settings = {});

/// Writes it as a case file of its own; the file's stem is "reduced", which begins the case's id.
[[nodiscard]] core::Result<void> write_reduced(const cases::Case& subject, const std::string& path);

}  // namespace dmlconform::fuzz
