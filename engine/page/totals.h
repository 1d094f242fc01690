// Results added up by operator, data type and engine.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>

#include "engine/compare/comparison.h"
#include "engine/run/result.h"

namespace dmlconform::page {

/// So many bins from 0 to all of the tolerance.
inline constexpr std::size_t tolerance_bins = 10;

struct Total {
    /// By run::Status, on the gate.
    std::array<std::uint64_t, run::status_count> counts{};
    /// Cases tagged `unspecified`.
    std::uint64_t off_gate = 0;
    /// Elements of all outputs by their distance.
    std::array<std::uint64_t, compare::UlpHistogram::bucket_count> ulps{};
    /// Outputs by the largest part of the tolerance that a passing element used.
    std::array<std::uint64_t, tolerance_bins> tolerance{};
    double largest_tolerance = 0;
    /// Executions, in seconds.
    double seconds = 0;

    [[nodiscard]] std::uint64_t count(run::Status status) const { return counts[static_cast<std::size_t>(status)]; }
    [[nodiscard]] std::uint64_t failures() const;
    void add(const Total& other);
};

struct TotalKey {
    /// Without "DML_OPERATOR_".
    std::string operator_name;
    std::string data_type;
    std::string engine;

    [[nodiscard]] bool operator<(const TotalKey& other) const {
        return std::tie(operator_name, data_type, engine) <
               std::tie(other.operator_name, other.data_type, other.engine);
    }
};

using Totals = std::map<TotalKey, Total>;

/// Adds a result as it is in a result file, which report::read_result_file has checked.
void add_result(const nlohmann::ordered_json& result, const std::string& data_type, Totals& totals);

}  // namespace dmlconform::page
