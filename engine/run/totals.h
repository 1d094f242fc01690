// Totals of a run, accumulated result by result.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/result.h"
#include "engine/run/unverified.h"

namespace dmlconform::run {

using StatusCounts = std::array<std::size_t, status_count>;

/// A distribution of durations with a resolution of 0.1 %, in little memory.
class DurationHistogram {
public:
    void add(std::chrono::nanoseconds duration);
    void add(const DurationHistogram& other);
    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// The median; the upper one of an even number. Exact if all durations are equal; 0 if there are none.
    [[nodiscard]] std::chrono::nanoseconds median() const;

private:
    /// Counts by bucket, which is the logarithm of the duration.
    std::map<int, std::size_t> buckets_;
    std::size_t count_ = 0;
    std::chrono::nanoseconds least_{};
    std::chrono::nanoseconds greatest_{};
};

/// Counts the results of an operator on an engine.
struct Tally {
    StatusCounts counts{};
    std::chrono::nanoseconds total{};
    /// Durations by the device's clock if it has one.
    DurationHistogram executions;
    /// Timing::steady of cases with further executions.
    DurationHistogram steady;

    void add(const CaseResult& result);
    void add(const Tally& other);
    [[nodiscard]] std::size_t count(Status status) const { return counts[static_cast<std::size_t>(status)]; }
};

/// Counts outputs by their precision.
struct PrecisionCounts {
    /// Outputs in FP32; those of them with operations that round towards zero; and outputs in less.
    std::size_t fp32 = 0;
    std::size_t less = 0;
    /// Outputs with too few elements, or too few different ones, to tell.
    std::size_t cannot_tell = 0;

    void add(const OutputPrecision& precision);
};

struct RunTotals {
    std::vector<EngineInfo> engines;
    /// By the operator's short name and the engine's index in `engines`; only results on the gate.
    std::map<std::pair<std::string, std::size_t>, Tally> rows;
    /// One for each engine; only results on the gate.
    std::vector<Tally> all;
    StatusCounts off_gate{};
    /// "ID on ENGINE" of the first failures off the gate.
    std::vector<std::string> off_gate_failures{};
    /// Unrequested skips on the gate, by engine and reason.
    SharedReasons skips{};
    std::size_t results = 0;
    /// Precision of results on the gate.
    PrecisionCounts precision{};
    Unverified unverified;
    std::chrono::nanoseconds duration{};

    RunTotals() = default;
    explicit RunTotals(std::vector<EngineInfo> on) : engines(std::move(on)), all(engines.size()) {}

    static constexpr std::size_t most_off_gate_failures = 10;

    void add(const CaseResult& result);
    /// Counts a case, given its results on all engines. The results must be added separately.
    void add_case(std::span<const CaseResult> results_of_case);

    /// The number of results on the gate, or off it, with that status.
    [[nodiscard]] std::size_t count(Status status, bool gated = true) const;
    /// The number of results on the gate that are good and prove something about an engine.
    [[nodiscard]] std::size_t verified() const;
    /// The number of failures of any kind on the gate, or off it.
    [[nodiscard]] std::size_t failures(bool gated = true) const;
    /// True if nothing on the gate failed, and something was verified.
    [[nodiscard]] bool passed() const;
};

}  // namespace dmlconform::run
