// Results added up by operator, data type and engine.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>

#include "engine/compare/comparison.h"
#include "engine/compare/precision.h"
#include "engine/run/result.h"

namespace dmlconform::page {

/// The number of bins from 0 to the full tolerance.
inline constexpr std::size_t tolerance_bins = 10;

struct Total {
    /// Counts by run::Status, on the gate.
    std::array<std::uint64_t, run::status_count> counts{};
    /// Cases tagged `unspecified`.
    std::uint64_t off_gate = 0;
    /// Elements of all outputs by their ULP distance.
    std::array<std::uint64_t, compare::UlpHistogram::bucket_count> ulps{};
    /// Outputs by the largest share of the tolerance that a passing element used.
    std::array<std::uint64_t, tolerance_bins> tolerance{};
    double largest_tolerance = 0;
    /// The errors of all outputs with a known precision, and the number of outputs for each precision.
    compare::PrecisionStatistic precision{};
    std::map<std::string, std::uint64_t> computes_as{};
    /// Total execution time in seconds.
    double seconds = 0;

    [[nodiscard]] std::uint64_t count(run::Status status) const { return counts[static_cast<std::size_t>(status)]; }
    [[nodiscard]] std::uint64_t failures() const;
    /// The precision of most outputs that are not FP32, otherwise the one that all errors together show; empty if there
    /// are too few. For example "FP32".
    [[nodiscard]] std::string precision_name(const std::string& data_type) const;
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

/// Adds a result of a result file that report::read_result_file has checked.
void add_result(const nlohmann::ordered_json& result, const std::string& data_type, Totals& totals);

}  // namespace dmlconform::page
