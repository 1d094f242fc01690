// Looks for one wide range among millions of elements.
#include "engine/cpu/wide_slack.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "engine/cpu/wide_registers.h"
#include "engine/operators/rounded_sums.h"

namespace dmlconform::cpu {
namespace {

bool has_infinite_bound(std::span<const double> bounds) {
    const double* const from = bounds.data();
    const std::size_t count = bounds.size();
    bool result = false;
    in_wide_registers([&] {
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < count; ++i) {
            any |= static_cast<std::uint64_t>(std::fabs(from[i]) == std::numeric_limits<double>::infinity());
        }
        result = any != 0;
    });
    return result;
}

bool has_flag(std::span<const std::uint8_t> flags) {
    const std::uint8_t* const from = flags.data();
    const std::size_t count = flags.size();
    bool result = false;
    in_wide_registers([&] {
        std::uint8_t any = 0;
        for (std::size_t i = 0; i < count; ++i) {
            any = static_cast<std::uint8_t>(any | from[i]);
        }
        result = any != 0;
    });
    return result;
}

}  // namespace

double worst_by_rounding(const operators::Descriptor& descriptor) {
    // A sum of n terms in the worst order is off by √6·n times more than usual at most, and of normal terms by 1.2 to
    // 1.6 n. Short sums have other operations beside them.
    constexpr double least = 4096;
    double terms = 0;
    for (const core::RoundedSum& sum : operators::rounded_sums(descriptor)) {
        terms += sum.roundings;
    }
    return std::max(least, std::sqrt(6.0) * terms);
}

bool may_differ_widely(const core::ElementSlack& slack, double far) {
    const std::size_t count = std::min(slack.sigma.size(), slack.below.size());
    const double* const below = slack.below.data();
    const double* const above = slack.above.data();
    const double* const sigma = slack.sigma.data();
    constexpr double largest = std::numeric_limits<double>::max();
    bool are_far = false;
    in_wide_registers([&] {
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < count; ++i) {
            // Infinite bounds are too far in any case.
            const double usual = sigma[i] > 0 ? far * sigma[i] : largest;
            const double limit = usual < largest ? usual : largest;
            any |= static_cast<std::uint64_t>(below[i] > limit) | static_cast<std::uint64_t>(above[i] > limit) |
                   static_cast<std::uint64_t>(below[i] < -largest) | static_cast<std::uint64_t>(above[i] < -largest);
        }
        are_far = any != 0;
    });
    return are_far || has_infinite_bound(std::span(slack.below).subspan(count)) ||
           has_infinite_bound(std::span(slack.above).subspan(count)) || has_flag(slack.nan) || has_flag(slack.finite);
}

}  // namespace dmlconform::cpu
