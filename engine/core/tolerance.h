// What difference between an expected and an actual element is accepted.
//
// A tolerance is a claim about the arithmetic of an operator. Operators state their own default (see
// engine/cpu/kernel.h), cases may replace it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dmlconform::core {

/// An element passes if it satisfies any one of the criteria that are set. NaN matches NaN and nothing else, and an
/// infinity matches only the same infinity, unless an ElementSlack says otherwise.
struct Tolerance {
    /// Equal bits, NaN payloads aside.
    bool exact = false;
    /// Distance in units of the last place of the output's own type; for integers the absolute difference.
    std::optional<std::uint64_t> ulp;
    std::optional<double> abs;
    /// Relative to the expected value.
    std::optional<double> rel;
    /// Within the slack that the reference computes for each element: see ElementSlack.
    bool element_slack = false;
    /// With element_slack: the slack has room for sums of FLOAT16 that are kept in FLOAT16 while they grow, as
    /// DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION allows.
    bool half_precision = false;
    /// Or one of the other values that the reference lists for the element: see ElementSlack.
    bool alternatives = false;
    /// Only elements that mean something count: see ElementSlack.
    bool meaningful_part = false;
    /// What the slack is made of, as a formula for reports. Text that lives as long as the program.
    std::string_view slack_formula = {};

    bool operator==(const Tolerance&) const = default;
};

/// How far an actual element may lie below and above the expected one, in units of value, one entry for each
/// element in row-major order. The reference engine fills it while it computes the output, because
/// only there the magnitudes that rounding errors scale with are known.
///
/// An infinite bound accepts infinity on that side.
struct ElementSlack {
    std::vector<double> below;
    std::vector<double> above;
    /// Not 0 where NaN is accepted although a number is expected. May be empty: nowhere.
    std::vector<std::uint8_t> nan = {};
    /// Not 0 where finite numbers are accepted although an infinity is expected: those within the bound of the type's
    /// largest number. May be empty: nowhere.
    std::vector<std::uint8_t> finite = {};
    /// Values that are as right as the expected one: an element's row-major index and bits, in ascending order.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> alternatives = {};
    /// How many elements mean something, the first in row-major order; what the others hold does not matter.
    std::uint64_t meaningful = std::numeric_limits<std::uint64_t>::max();
};

/// "2 ulp or 1e-06 abs".
[[nodiscard]] std::string to_string(const Tolerance& tolerance);

}  // namespace dmlconform::core
