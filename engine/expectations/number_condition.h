// Conditions on one number: an attribute, a size, an element.
//
//     3    [1, 3]    { "atLeast": 2, "below": 100 }    { "not": [1, 3] }    { "nan": true }
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::expectations {

struct NumberBounds;

/// Holds if one of the alternatives holds.
struct NumberCondition {
    std::vector<NumberBounds> any_of;

    [[nodiscard]] bool holds(double value) const;
};

/// Holds if all parts hold. NaN is within no bounds, and equal to nothing.
struct NumberBounds {
    std::optional<double> equals{};
    std::optional<double> at_least{};
    std::optional<double> at_most{};
    std::optional<double> above{};
    std::optional<double> below{};
    /// Must not be 0.
    std::optional<std::uint64_t> multiple_of{};
    std::optional<bool> nan{};
    std::optional<bool> infinite{};
    /// Tests the sign bit: -0 is negative.
    std::optional<bool> negative{};
    std::optional<bool> integer{};
    /// The maximum distance from the nearest integer, relative to the number.
    std::optional<double> from_integer{};
    /// A condition on the number's absolute value.
    std::optional<NumberCondition> magnitude{};
    std::optional<NumberCondition> is_not{};

    [[nodiscard]] bool holds(double value) const;
};

/// Reads a condition. With an enumeration, its enumerators are accepted as numbers. Reports problems; the result is
/// then empty.
[[nodiscard]] std::optional<NumberCondition> read_number_condition(const cases::JsonValue& value, std::string_view name,
                                                                   const operators::Enumeration* enumeration,
                                                                   cases::ProblemSink& problems);

}  // namespace dmlconform::expectations
