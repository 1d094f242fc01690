// What came of running cases: the data behind every report.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/compare/comparison.h"
#include "engine/engine.h"

namespace dmlconform::run {

/// How a case ended on an engine. `reference` is the CPU engine on a case without expected values: it ran, but there
/// was nothing to compare it with, so it counts neither as passed nor as skipped. `crash` and `timeout` are for engines
/// in processes of their own: the process ended, or was ended because it did not answer.
enum class Status : std::uint8_t { pass, fail, skip, error, crash, timeout, reference };

inline constexpr std::size_t status_count = 7;

/// Whether a result of that status on the gate makes a run fail.
[[nodiscard]] constexpr bool is_failure(Status status) {
    return status == Status::fail || status == Status::error || status == Status::crash || status == Status::timeout;
}

/// "pass", …
[[nodiscard]] const char* to_string(Status status);

/// One output, compared.
struct OutputResult {
    std::string name;
    core::TensorDesc desc;
    core::Tolerance tolerance;
    /// Where the expected values came from: the case file, or the reference engine.
    bool from_reference = false;
    compare::Comparison comparison;
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
    /// The engine runs elsewhere and told `execute` itself: the way there and back is not part of it.
    bool told = false;
};

struct CaseResult {
    const cases::Case* subject = nullptr;
    /// Index into RunResult::engines.
    std::size_t engine = 0;
    Status status = Status::error;
    /// False for a case whose right answer nobody specifies: it is reported, but decides nothing.
    bool gated = true;
    /// Why it is no pass, in a sentence; empty for a pass.
    std::string reason;
    /// The rejection that decided the case, if one did.
    std::optional<operators::Rejection> rejection;
    std::vector<OutputResult> outputs;
    std::vector<StrayOutput> stray_writes;
    /// All zero where nothing was executed.
    Timing timing;
};

struct RunResult {
    std::vector<EngineInfo> engines;
    /// Case by case, and for each the engines in order.
    std::vector<CaseResult> results;
    std::chrono::nanoseconds duration{};

    /// Results on the gate, or those off it.
    [[nodiscard]] std::size_t count(Status status, bool gated = true) const;
    /// How many on the gate are failures of any kind.
    [[nodiscard]] std::size_t failures() const;
    /// Everything on the gate as it should be, and something was verified.
    [[nodiscard]] bool passed() const;
};

}  // namespace dmlconform::run
