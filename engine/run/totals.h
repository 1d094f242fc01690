// What results amount to, added up one by one.
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

/// A distribution of durations in little memory, to within 0.1 %.
class DurationHistogram {
public:
    void add(std::chrono::nanoseconds duration);
    void add(const DurationHistogram& other);
    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// The upper of two in the middle. Exact as long as all durations are the same; 0 if there are none.
    [[nodiscard]] std::chrono::nanoseconds median() const;

private:
    /// By logarithm.
    std::map<int, std::size_t> buckets_;
    std::size_t count_ = 0;
    std::chrono::nanoseconds least_{};
    std::chrono::nanoseconds greatest_{};
};

/// The results of an operator on an engine.
struct Tally {
    StatusCounts counts{};
    std::chrono::nanoseconds total{};
    /// By the device's clock where it has one.
    DurationHistogram executions;
    /// Of those that were executed further times: Timing::steady.
    DurationHistogram steady;

    void add(const CaseResult& result);
    void add(const Tally& other);
    [[nodiscard]] std::size_t count(Status status) const { return counts[static_cast<std::size_t>(status)]; }
};

struct RunTotals {
    std::vector<EngineInfo> engines;
    /// By an operator's short name and an index into `engines`; only results on the gate.
    std::map<std::pair<std::string, std::size_t>, Tally> rows;
    /// One for each engine; only results on the gate.
    std::vector<Tally> all;
    StatusCounts off_gate{};
    /// "ID on ENGINE" of the first failures off the gate.
    std::vector<std::string> off_gate_failures{};
    /// Results on the gate that are skips which nobody asked for, by engine and reason.
    SharedReasons skips{};
    std::size_t results = 0;
    Unverified unverified;
    std::chrono::nanoseconds duration{};

    RunTotals() = default;
    explicit RunTotals(std::vector<EngineInfo> on) : engines(std::move(on)), all(engines.size()) {}

    static constexpr std::size_t most_off_gate_failures = 10;

    void add(const CaseResult& result);
    /// Counts a case by what all engines made of it; its results are added one by one besides.
    void add_case(std::span<const CaseResult> results_of_case);

    /// Results on the gate, or those off it.
    [[nodiscard]] std::size_t count(Status status, bool gated = true) const;
    /// How many on the gate are as they should be, and say something about an engine.
    [[nodiscard]] std::size_t verified() const;
    /// How many on the gate, or off it, are failures of any kind.
    [[nodiscard]] std::size_t failures(bool gated = true) const;
    /// Everything on the gate as it should be, and something was verified.
    [[nodiscard]] bool passed() const;
};

}  // namespace dmlconform::run
