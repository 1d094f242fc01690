// Running one case on engines and judging what comes out.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
    /// Which of the engines says what is expected where the case does not; nothing: the reference does.
    std::optional<std::size_t> against{};
    /// Lets results of that engine have CaseResult::computed.
    bool keep_computed = false;
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

/// What an engine computes, for others to be compared with: CaseResult::computed has it if there is any. The status of
/// a case without expected values is `reference` then.
[[nodiscard]] CaseResult answer_of(const cases::Case& subject, Engine& engine);

}  // namespace dmlconform::run
