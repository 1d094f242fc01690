// The result of running a case: the data of every report.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cases/case.h"
#include "engine/compare/comparison.h"
#include "engine/compare/error_map.h"
#include "engine/compare/precision.h"
#include "engine/compare/shown_elements.h"
#include "engine/engine.h"
#include "engine/expectations/expectation.h"

namespace dmlconform::run {

/// How a case ended on an engine.
///
/// `reference`: the engine provided the values that the others are compared with, for a case without expected values.
/// It counts neither as passed nor as skipped. `crash` and `timeout`: an engine in another process ended, or was ended
/// because it did not answer. Expectations change statuses to three more: `xfail`, a failure that was expected;
/// `xpass`, a pass although a failure was expected; `flake`, a failure that passed when it was retried.
enum class Status : std::uint8_t { pass, fail, skip, error, crash, timeout, reference, xfail, xpass, flake };

inline constexpr std::size_t status_count = 10;

/// True if a result of that status on the gate makes a run fail.
[[nodiscard]] constexpr bool is_failure(Status status) {
    return status == Status::fail || status == Status::error || status == Status::crash || status == Status::timeout ||
           status == Status::xpass;
}

/// True if a result of that status is good and proves something about the engine.
[[nodiscard]] constexpr bool is_verified(Status status) {
    return status == Status::pass || status == Status::xfail || status == Status::flake;
}

/// The name in reports: "pass", …
[[nodiscard]] const char* to_string(Status status);

/// The precision in which an output was computed.
struct OutputPrecision {
    compare::PrecisionStatistic statistic;
    /// For example "FP32" or "TF32 (11 bits)"; empty if the output is not sufficient to tell.
    std::string computes_as{};
    /// The promised precision, such as "FP32", if the output did not reach it, which is a failure; otherwise empty.
    std::string promised{};
};

/// What is wrong with a value inside a graph that was judged in segments.
enum class SegmentFault : std::uint8_t { none, value, precision };

/// The result of comparing one output.
struct OutputResult {
    std::string name;
    core::TensorDesc desc;
    core::Tolerance tolerance;
    /// The expected values came from the reference or from the engine that the run is against, not from the case file.
    bool from_reference = false;
    /// The engine that the run is against, if it provided the expected values; otherwise empty.
    std::string expected_by{};
    compare::Comparison comparison;
    /// The distribution of the errors, if the output is beyond its tolerance.
    std::optional<compare::ErrorMap> error_map;
    /// Some elements for reports, if the output is beyond its tolerance.
    std::vector<compare::ShownElement> shown{};
    /// Empty if the reference does not know the error of a computation in FP32.
    std::optional<OutputPrecision> precision{};
    /// Why passing proves nothing: what unrelated values the tolerance would accept. Empty if passing does prove
    /// something.
    std::string powerless{};
};

/// An output with a write beyond its end.
struct StrayOutput {
    std::string name;
    core::StrayWrite write;
};

struct Timing {
    /// Wall-clock time: `total` of bind, execute and read together, `execute` of execute alone.
    std::chrono::nanoseconds total{};
    std::chrono::nanoseconds execute{};
    /// Time by the device's clock, if it has one.
    std::optional<std::chrono::nanoseconds> device;
    /// The median of further executions of a passing case, if the run makes some; by the device's clock if it has one.
    std::optional<std::chrono::nanoseconds> steady{};
    /// The engine is in another process and measured `execute` there, without the transfer.
    bool measured_there = false;
    /// The CPU engine executed it on several threads of this process.
    bool on_several_threads = false;
};

/// The tensors of a failed case.
struct Evidence {
    /// One for each of Descriptor::inputs(); empty tensors for absent ones.
    std::vector<core::Tensor> inputs;
    /// One for each of Descriptor::outputs(): packed expected values, and what the engine wrote. Empty if missing.
    std::vector<core::Tensor> expected;
    std::vector<core::Tensor> actual;
};

/// What an engine's results of a graph's nodes say about the graph.
struct NodeVerdicts {
    /// How many nodes have a result. Identical ones count once.
    std::size_t judged = 0;
    /// Names of those that fail, in the order of their results: that of execution.
    std::vector<std::string> wrong{};
};

struct CaseResult {
    std::shared_ptr<const cases::Case> subject;
    /// Index of the engine in the run.
    std::size_t engine = 0;
    /// How often the run had gone through all cases before.
    std::size_t repetition = 0;
    /// Position of the case among all cases of the run, including those of other shards.
    std::size_t order = 0;
    Status status = Status::error;
    /// The status before expectations changed it to xfail, xpass or flake.
    std::optional<Status> actual{};
    /// The expectation that decided the status or was contradicted; null if there is none. Not owned.
    const expectations::Expectation* expectation = nullptr;
    /// Expectations that cover all elements that differ; empty if other elements differ, too. Not owned.
    std::vector<const expectations::Expectation*> excusing{};
    /// How often the case was run for this result.
    unsigned attempts = 1;
    /// False for a case whose correct result no source specifies: it is reported, but does not affect the run's
    /// outcome.
    bool gated = true;
    /// Why it is not a pass, in a sentence; empty for a pass.
    std::string reason;
    /// How many elements differ, and the worst one; empty unless values differ. Not part of the reason, because
    /// failures are grouped by reason.
    std::string difference{};
    /// What may be wrong instead of the engine; empty if nothing is known.
    std::string hint{};
    /// Of a graph whose nodes were judged by themselves in the same run.
    std::optional<NodeVerdicts> nodes{};
    /// The rejection that decided the case, if there was one.
    std::optional<operators::Rejection> rejection;
    std::vector<OutputResult> outputs;
    /// What failed where a graph was judged in segments (segments.h).
    SegmentFault segments = SegmentFault::none;
    /// Names of outputs without a comparison: the case expects no values, and the engine is the reference.
    std::vector<std::string> uncompared{};
    std::vector<StrayOutput> stray_writes;
    /// True if an output, or a part of one, was not written.
    bool unwritten = false;
    /// All zero if nothing was executed.
    Timing timing;
    /// Set for a failure after execution, if the run keeps evidence.
    std::shared_ptr<const Evidence> evidence;
    /// The engine's outputs, one for each of Descriptor::outputs(), if the run keeps them.
    std::shared_ptr<const std::vector<core::Tensor>> computed{};

    void finish(Status how, std::string why) {
        status = how;
        reason = std::move(why);
    }
};

/// The reason with the numbers and the hint, for reports with one line per result.
[[nodiscard]] std::string message_of(const CaseResult& result);

}  // namespace dmlconform::run
