// What came of running a case: the data behind every report.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/compare/comparison.h"
#include "engine/compare/error_map.h"
#include "engine/compare/shown_elements.h"
#include "engine/engine.h"
#include "engine/expectations/expectation.h"

namespace dmlconform::run {

/// How a case ended on an engine. `reference` is the engine whose answer the others are compared with, on a case
/// without expected values: it ran, but there was nothing to compare it with, so it counts neither as passed nor as
/// skipped. `crash` and `timeout` are for engines in processes of their own: the process ended by itself, or it was
/// ended because it did not answer.
/// Expectations make three more of these: `xfail`, a failure that was expected; `xpass`, a pass where a failure was
/// expected; and `flake`, a failure that passed when it was tried again.
enum class Status : std::uint8_t { pass, fail, skip, error, crash, timeout, reference, xfail, xpass, flake };

inline constexpr std::size_t status_count = 10;

/// Whether a result of that status on the gate makes a run fail.
[[nodiscard]] constexpr bool is_failure(Status status) {
    return status == Status::fail || status == Status::error || status == Status::crash || status == Status::timeout ||
           status == Status::xpass;
}

/// Whether a result of that status is as it should be and says something about the engine.
[[nodiscard]] constexpr bool is_verified(Status status) {
    return status == Status::pass || status == Status::xfail || status == Status::flake;
}

/// "pass", …
[[nodiscard]] const char* to_string(Status status);

/// One output, compared.
struct OutputResult {
    std::string name;
    core::TensorDesc desc;
    core::Tolerance tolerance;
    /// Whether the expected values came from the reference, or from the engine that the run is against, and not from
    /// the case file.
    bool from_reference = false;
    /// The engine that the run is against, where the values came from it; empty: the reference, or the case file.
    std::string expected_by{};
    compare::Comparison comparison;
    /// Where the errors are, if the output is beyond its tolerance.
    std::optional<compare::ErrorMap> error_map;
    /// Elements for people to look at, if the output is beyond its tolerance.
    std::vector<compare::ShownElement> shown{};
};

/// An output behind whose end the engine wrote.
struct StrayOutput {
    std::string name;
    core::StrayWrite write;
};

struct Timing {
    /// Wall-clock time of bind, execute and read together, and of execute alone.
    std::chrono::nanoseconds total{};
    std::chrono::nanoseconds execute{};
    /// By the device's own clock, where it has one.
    std::optional<std::chrono::nanoseconds> device;
    /// The median of further executions of what passed, if the run makes some: by the device's clock where it has one.
    std::optional<std::chrono::nanoseconds> steady{};
    /// The engine runs elsewhere and measured `execute` there: the way there and back is not part of it.
    bool measured_there = false;
};

/// What a failure was seen in.
struct Evidence {
    /// In the order of Descriptor::inputs(); empty tensors for absent ones.
    std::vector<core::Tensor> inputs;
    /// In the order of Descriptor::outputs(): packed expected values, and what the engine wrote. Empty where there is
    /// none.
    std::vector<core::Tensor> expected;
    std::vector<core::Tensor> actual;
};

struct CaseResult {
    std::shared_ptr<const cases::Case> subject;
    /// Which of the run's engines.
    std::size_t engine = 0;
    /// How often the run had gone through all cases before.
    std::size_t repetition = 0;
    /// Where the case stands among all that the run goes through, those of other shards included.
    std::size_t order = 0;
    Status status = Status::error;
    /// What the status was before expectations made it xfail, xpass or flake.
    std::optional<Status> actual{};
    /// The expectation that decided the status, or that was contradicted; null if there is none. Not owned.
    const expectations::Expectation* expectation = nullptr;
    /// Expectations by which all elements that differ may do so; none if there are others. Not owned.
    std::vector<const expectations::Expectation*> excusing{};
    /// How often the case was run for this result.
    unsigned attempts = 1;
    /// False for a case whose right answer nobody specifies: it is reported, but decides nothing.
    bool gated = true;
    /// Why it is not a pass, in a sentence; empty for a pass.
    std::string reason;
    /// How much differs, and the worst of it, in numbers; empty unless values differ. Not part of the reason, by which
    /// failures of one kind are found.
    std::string difference{};
    /// What may be wrong other than the engine; empty: nothing is known.
    std::string hint{};
    /// The rejection that decided the case, if one did.
    std::optional<operators::Rejection> rejection;
    std::vector<OutputResult> outputs;
    /// Names of outputs that were compared with nothing: no values are expected, and the engine is the reference.
    std::vector<std::string> uncompared{};
    std::vector<StrayOutput> stray_writes;
    /// All zero where nothing was executed.
    Timing timing;
    /// Of a failure after execution, if the run keeps it.
    std::shared_ptr<const Evidence> evidence;
    /// What the engine computed, in the order of Descriptor::outputs(), if the run keeps it.
    std::shared_ptr<const std::vector<core::Tensor>> computed{};
};

/// The reason with the numbers and the hint: what a report of one line says.
[[nodiscard]] std::string message_of(const CaseResult& result);

}  // namespace dmlconform::run
