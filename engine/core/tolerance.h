// Tolerances: which difference between an expected and an actual element is accepted.
//
// A tolerance is a claim about the arithmetic of an operator. Each operator states its default (engine/cpu/kernel.h),
// and cases can replace it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dmlconform::core {

/// An element passes if it meets any of the criteria that are set. NaN matches only NaN, and an infinity matches only
/// the same infinity, unless an ElementSlack says otherwise.
struct Tolerance {
    /// Bits must be equal, except for NaN payloads.
    bool exact = false;
    /// Distance in units in the last place of the output's type; for integers the absolute difference.
    std::optional<std::uint64_t> ulp;
    std::optional<double> abs;
    /// Relative to the expected value.
    std::optional<double> rel;
    /// Accepts a difference within the slack that the reference computes for each element: see ElementSlack.
    bool element_slack = false;
    /// With element_slack: the slack allows for FLOAT16 sums whose partial sums are FLOAT16, as
    /// DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION permits.
    bool half_precision = false;
    /// Also accepts the other values that the reference lists for the element: see ElementSlack.
    bool alternatives = false;
    /// Ignores elements beyond ElementSlack::meaningful.
    bool meaningful_part = false;
    /// The formula of the slack, for reports. The text lives as long as the program.
    std::string_view slack_formula = {};

    bool operator==(const Tolerance&) const = default;
};

/// How far an actual element may lie below and above the expected one, in units of value, one entry for each element in
/// row-major order. The reference engine fills it while it computes the output, because only there the magnitudes that
/// rounding errors scale with are known.
///
/// An infinite bound accepts infinity on that side.
struct ElementSlack {
    std::vector<double> below;
    std::vector<double> above;
    /// 1: NaN is accepted as well. 2: NaN is expected, and values from -below to above are accepted as well. If empty,
    /// all entries are 0.
    std::vector<std::uint8_t> nan = {};
    /// Not 0 where an infinity is expected and finite numbers within the bound of the type's largest number are
    /// accepted as well. If empty, all entries are 0.
    std::vector<std::uint8_t> finite = {};
    /// Values that are as correct as the expected one: an element's row-major index and bits, in ascending order.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> alternatives = {};
    /// Standard deviation of the error of the simplest implementation that computes in FP32, in units of value; 0 where
    /// it is exact. If empty, it is not known. See docs/precision.md.
    std::vector<double> sigma = {};
    /// The number of elements that are compared, in row-major order. Later elements may have any value.
    std::uint64_t meaningful = std::numeric_limits<std::uint64_t>::max();
};

/// For messages: "2 ulp or 1e-06 abs".
[[nodiscard]] std::string to_string(const Tolerance& tolerance);

}  // namespace dmlconform::core
