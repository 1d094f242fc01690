// The difference between an element and its expected value, and the share of the tolerance that it uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/compare/criteria.h"
#include "engine/compare/ulp.h"
#include "engine/core/floating_format.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

inline double share_of(double difference, double bound) {
    if (difference == 0) {
        return 0;
    }
    return bound > 0 ? difference / bound : std::numeric_limits<double>::infinity();
}

/// The share of the tolerance that the difference of two numbers uses; at most 1 is within the tolerance. Of several
/// criteria the most lenient one counts.
template <class T>
double used_fraction(T expected, T actual, std::uint64_t ulp, const Criteria& tolerance,
                     const core::ElementSlack* slack, std::size_t index) {
    double used = std::numeric_limits<double>::infinity();
    if (tolerance.ulp) {
        const double part = share_of(static_cast<double>(ulp), static_cast<double>(*tolerance.ulp));
        // Large counts that differ by 1 can be equal as doubles, so a distance beyond the limit must use more than 1.
        used = std::min(used, ulp > *tolerance.ulp ? std::max(part, std::nextafter(1.0, 2.0)) : part);
    }
    // For integers the distance in ULPs is the difference. It is exact, unlike a difference of doubles.
    double difference = static_cast<double>(ulp);
    bool above = expected < actual;
    double magnitude = std::fabs(static_cast<double>(expected));
    if constexpr (!std::is_integral_v<T>) {
        const double signed_difference = static_cast<double>(actual) - static_cast<double>(expected);
        difference = std::fabs(signed_difference);
        above = signed_difference > 0;
    }
    if (tolerance.abs) {
        used = std::min(used, share_of(difference, *tolerance.abs));
    }
    if (tolerance.rel) {
        used = std::min(used, share_of(difference, *tolerance.rel * magnitude));
    }
    if (tolerance.element_slack && slack != nullptr) {
        used = std::min(used, share_of(difference, above ? slack->above[index] : slack->below[index]));
    }
    return used;
}

template <class T>
bool same_bits(const T& a, const T& b) {
    return std::memcmp(reinterpret_cast<const std::byte*>(&a), reinterpret_cast<const std::byte*>(&b), sizeof(T)) == 0;
}

/// True if the elements are bitwise equal or both NaN.
template <class T>
bool is_equal(const T& expected, const T& actual) {
    return (is_nan(expected) && is_nan(actual)) || same_bits(expected, actual);
}

/// True if the slack accepts one of the two numbers in place of the other, when one of them is infinite: see
/// ElementSlack.
template <class T>
bool reaches(T expected, T actual, const core::ElementSlack& slack, std::size_t index) {
    const auto wanted = static_cast<double>(expected);
    const auto found = static_cast<double>(actual);
    const double bound = found > wanted ? slack.above[index] : slack.below[index];
    if (!is_infinite(expected)) {
        return std::isinf(bound);
    }
    double largest = core::float16.largest;
    if constexpr (std::is_floating_point_v<T>) {
        largest = double{std::numeric_limits<T>::max()};
    }
    const bool accepted = !slack.finite.empty() && slack.finite[index] != 0;
    // From the largest number towards zero, and beyond zero if the signs differ. Another infinity is infinitely far.
    const bool other_sign = std::signbit(wanted) != std::signbit(found);
    return accepted && (other_sign ? largest + std::fabs(found) : largest - std::fabs(found)) <= bound;
}

struct ElementDifference {
    /// Empty if exactly one of the two is NaN.
    std::optional<std::uint64_t> ulp;
    /// The share of the tolerance that is used; infinite if the tolerance has no applicable bound.
    double used = std::numeric_limits<double>::infinity();
};

/// True if the reference lists the bits as one of the equally correct values of the element. NaN stands for any NaN.
template <class T>
bool is_alternative(const T& actual, const core::ElementSlack& slack, std::size_t index) {
    using Alternative = std::pair<std::uint64_t, std::uint64_t>;
    const auto& all = slack.alternatives;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &actual, sizeof(T));
    if (!is_nan(actual)) {
        return std::binary_search(all.begin(), all.end(), Alternative(index, bits));
    }
    const auto first = std::lower_bound(all.begin(), all.end(), Alternative(index, 0));
    const auto last = std::upper_bound(first, all.end(), Alternative(index, UINT64_MAX));
    return std::any_of(first, last, [](const Alternative& alternative) {
        T listed;
        std::memcpy(static_cast<void*>(&listed), &alternative.second, sizeof(T));
        return is_nan(listed);
    });
}

/// True if the slack accepts NaN instead of a number, or this number instead of NaN: see ElementSlack.
inline bool accepts_beside_nan(double actual, const core::ElementSlack& slack, std::size_t index) {
    if (std::isnan(actual)) {
        return slack.nan[index] == 1;
    }
    return slack.nan[index] == 2 && actual >= -slack.below[index] && actual <= slack.above[index];
}

/// The difference of elements that are not equal. `index` is the row-major index into `slack`.
template <class T>
ElementDifference difference_of(T expected, T actual, const Criteria& tolerance, const core::ElementSlack* slack,
                                std::size_t index) {
    ElementDifference difference;
    const bool has_slack = tolerance.element_slack && slack != nullptr;
    if (tolerance.meaningful_part && slack != nullptr && index >= slack->meaningful) {
        return {.ulp = 0, .used = 0};
    }
    if (tolerance.zero_signs && is_negative_zero(expected) && same_bits(actual, T{})) {
        return {.ulp = 0};
    }
    // If the case expects a value that is not listed, the case is wrong, which must be noticed.
    if (tolerance.alternatives && slack != nullptr && is_alternative(expected, *slack, index) &&
        is_alternative(actual, *slack, index)) {
        return {.ulp = 0, .used = 0};
    }
    if (is_nan(expected) || is_nan(actual)) {
        if (has_slack && !slack->nan.empty() && accepts_beside_nan(static_cast<double>(actual), *slack, index)) {
            difference.used = 1;
        }
        return difference;
    }
    difference.ulp = ulp_distance(expected, actual);
    if (is_infinite(expected) || is_infinite(actual)) {
        if (has_slack && reaches(expected, actual, *slack, index)) {
            difference.used = 1;
        }
        return difference;
    }
    if constexpr (std::is_same_v<T, core::Float16>) {
        difference.used = used_fraction(static_cast<double>(expected), static_cast<double>(actual), *difference.ulp,
                                        tolerance, slack, index);
    } else {
        difference.used = used_fraction(expected, actual, *difference.ulp, tolerance, slack, index);
    }
    return difference;
}

/// True if that share is beyond the tolerance. NaN is beyond any tolerance.
inline bool is_beyond(double used) {
    return !(used <= 1);
}

/// True if the difference is beyond the tolerance. `index` as for difference_of.
template <class T>
bool is_beyond(const T& expected, const T& actual, const Criteria& tolerance, const core::ElementSlack* slack,
               std::uint64_t index) {
    return !is_equal(expected, actual) &&
           is_beyond(difference_of(expected, actual, tolerance, slack, static_cast<std::size_t>(index)).used);
}

}  // namespace dmlconform::compare
