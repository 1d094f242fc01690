// Runs one case on engines and judges the outputs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/precision.h"
#include "engine/engine.h"
#include "engine/run/expected_results.h"
#include "engine/run/result.h"

namespace dmlconform::run {

/// Whether graphs are compiled as a whole if the engine can do that, or always run node by node.
enum class GraphMode : std::uint8_t { whole, nodes };

struct CaseSettings {
    /// Cases that need more bytes (see memory_needed) are skipped.
    std::uint64_t max_memory = std::numeric_limits<std::uint64_t>::max();
    /// Compares outputs. Without that, a case that was executed has the status `reference`.
    bool compare = true;
    /// Sets CaseResult::evidence for failures.
    bool keep_evidence = false;
    /// Decides which cases are skipped, which are retried after a failure, and which elements may differ. Null: none.
    /// It is not applied to the results.
    const ExpectedResults* expected = nullptr;
    /// The number of retries after a failure, whatever is expected of the case.
    unsigned retries = 0;
    /// The engine whose outputs are the expected values if the case has none. Empty: the reference's.
    std::optional<std::size_t> against{};
    /// Sets CaseResult::computed for that engine.
    bool keep_computed = false;
    /// The number of further executions of a passing case for Timing::steady. Fewer if they take long.
    std::size_t further_executions = 0;
    GraphMode graph_mode = GraphMode::whole;
    /// The precision that each engine promises for cases that do not specify one. FP32 for engines that are not listed.
    std::vector<core::Precision> precisions{};
};

/// True if the inputs and values of a graph lie in temporary files, because they take too much memory.
[[nodiscard]] bool is_in_files(const cases::Case& subject, const CaseSettings& settings);

/// What running the case on the engine takes, in bytes.
[[nodiscard]] std::uint64_t memory_of(const cases::Case& subject, const EngineInfo& engine,
                                      const CaseSettings& settings);

/// Whether running the case on these engines compares an output with the reference's, as far as that is known before
/// the case is run.
[[nodiscard]] bool may_compare(const cases::Case& subject, std::span<const std::unique_ptr<Engine>> engines,
                               const CaseSettings& settings);

/// Runs a case on each engine, in that order. Throws EngineLost if the run is interrupted while waiting for an engine.
[[nodiscard]] std::vector<CaseResult> run_case(const std::shared_ptr<const cases::Case>& subject,
                                               std::span<const std::unique_ptr<Engine>> engines,
                                               const CaseSettings& settings = {});

/// Runs a case on one engine once, whatever is expected of it. The result does not own the case. `index` is the
/// engine's index in the run.
[[nodiscard]] CaseResult run_case(const cases::Case& subject, Engine& engine, const CaseSettings& settings = {},
                                  std::size_t index = 0);

/// Runs an engine to get values that others are compared with. CaseResult::computed has them if there are any. The
/// status of a case without expected values is then `reference`.
[[nodiscard]] CaseResult answer_of(const cases::Case& subject, Engine& engine);

}  // namespace dmlconform::run
