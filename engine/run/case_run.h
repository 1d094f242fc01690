// Running one case on engines and judging what comes out.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/run/expected_results.h"
#include "engine/run/result.h"

namespace dmlconform::run {

struct CaseSettings {
    /// Cases that need more bytes (see memory_needed) are skipped.
    std::uint64_t max_memory = std::numeric_limits<std::uint64_t>::max();
    /// Lets failures have CaseResult::evidence.
    bool keep_evidence = false;
    /// Says which cases are not run, or run again when they fail, and which elements may differ; null: none. It is not
    /// applied to the results.
    const ExpectedResults* expected = nullptr;
    /// So many further executions of what passed are timed, for Timing::steady; fewer if they take long.
    std::size_t further_executions = 0;
};

/// Runs a case on each engine, in that order. Throws EngineLost when the run is interrupted while an engine is waited
/// for.
[[nodiscard]] std::vector<CaseResult> run_case(const std::shared_ptr<const cases::Case>& subject,
                                               std::span<const std::unique_ptr<Engine>> engines,
                                               const CaseSettings& settings = {});

/// Runs a case on one engine, once, whatever is expected of it. The result does not own the case; `index` is the
/// engine's among those of the run.
[[nodiscard]] CaseResult run_case(const cases::Case& subject, Engine& engine, const CaseSettings& settings = {},
                                  std::size_t index = 0);

}  // namespace dmlconform::run
