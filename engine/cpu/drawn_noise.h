// A random error of one element, drawn from the bits of a hash.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/cpu/graph_reference.h"

namespace dmlconform::cpu {

/// How far an element may move, and the standard deviation; a sigma of 0 means that only the range is known.
struct NoiseRange {
    double below = 0;
    double above = 0;
    double sigma = 0;
};

/// Two runs share the hash of an element: each of them has one half.
[[nodiscard]] inline std::uint32_t half_of(std::uint64_t hash, std::size_t run) {
    return static_cast<std::uint32_t>(run % 2 == 0 ? hash : hash >> 32);
}

inline constexpr double normal_mean = 2 * 255.0;
/// One divided by the standard deviation of the sum, the root of 4 * (256^2 - 1) / 12.
inline constexpr double normal_scale = 1 / 147.80054127099805;

/// The sum of four bytes: nearly a normal distribution of variance 1, within 3.5 standard deviations.
[[nodiscard]] inline double normal_number(std::uint32_t bits) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
        sum += static_cast<double>(bits >> (8 * i) & 0xff);
    }
    return (sum - normal_mean) * normal_scale;
}

inline constexpr double uniform_scale = 0x1p-32;

[[nodiscard]] inline double drawn(const NoiseRange& range, std::uint32_t bits) {
    if (range.sigma > 0) {
        return std::clamp(range.sigma * normal_number(bits), -range.below, range.above);
    }
    // Without a bound, noise would reveal nothing.
    if (!std::isfinite(range.below) || !std::isfinite(range.above)) {
        return 0;
    }
    const double fraction = bits * uniform_scale;
    return -range.below + fraction * (range.below + range.above);
}

/// The range of an FP32 element, whose noise is drawn in FP32.
struct SingleRange {
    float below = 0;
    float above = 0;
    /// What a sum of bytes is multiplied by; not positive if only the range is known.
    float scale = 0;
};

inline constexpr float largest_single = std::numeric_limits<float>::max();
/// So that products with sums of bytes are finite.
inline constexpr double greatest_scale = double{largest_single} / 1024;

[[nodiscard]] inline SingleRange single_range(const NoiseRange& range) {
    return {static_cast<float>(range.below), static_cast<float>(range.above),
            static_cast<float>(std::min(range.sigma * normal_scale, greatest_scale))};
}

[[nodiscard]] inline float sum_of_bytes(std::uint32_t bits) {
    std::uint32_t sum = 0;
    for (int i = 0; i < 4; ++i) {
        sum += bits >> (8 * i) & 0xff;
    }
    return static_cast<float>(sum);
}

inline constexpr auto single_mean = static_cast<float>(normal_mean);
inline constexpr auto single_uniform_scale = static_cast<float>(uniform_scale);

[[nodiscard]] inline float drawn(const SingleRange& range, std::uint32_t bits) {
    if (range.scale > 0) {
        return std::min(std::max(range.scale * (sum_of_bytes(bits) - single_mean), -range.below), range.above);
    }
    // Without a bound, noise would reveal nothing.
    if (range.below > largest_single || range.above > largest_single) {
        return 0;
    }
    const float fraction = static_cast<float>(bits) * single_uniform_scale;
    return fraction * range.above - (1 - fraction) * range.below;
}

/// Noise of a standard deviation below half a unit of FP32 is mostly lost, since sums are rounded to nearest.
inline constexpr auto lost_scale = static_cast<float>(normal_scale / 2);
/// Below one unit, one of 16 runs may miss the neighbours.
inline constexpr auto unit_scale = static_cast<float>(normal_scale);

inline constexpr std::uint32_t sign_of_single = 0x80000000;
inline constexpr std::uint32_t greatest_of_single = 0x7f7fffff;

/// What an FP32 element becomes whose noise is below a unit: in two of 16 runs one of its neighbours, and both in turn
/// if its range has both. That alone is a spread of 0.35 units, and of one rounding 0.29, so that noise below half a
/// unit is left out. Empty if noise is to be added. noise_in_sixteens.cpp does the same for sixteen elements.
[[nodiscard]] inline std::optional<float> neighbour_in_turn(float element, const SingleRange& range,
                                                            std::uint64_t run) {
    const auto bits = std::bit_cast<std::uint32_t>(element);
    const std::uint32_t magnitude = bits & ~sign_of_single;
    if (!(range.scale > 0) || magnitude == 0 || magnitude >= greatest_of_single) {
        return std::nullopt;
    }
    const std::uint64_t turn = run % monte_carlo_runs;
    float outer = std::bit_cast<float>(bits + 1);
    if (!(range.scale < std::fabs(outer - element) * (turn < 2 ? unit_scale : lost_scale))) {
        return std::nullopt;
    }
    const auto in_range = [&](float neighbour) {
        return element - neighbour <= range.below && neighbour - element <= range.above;
    };
    float inner = std::bit_cast<float>(bits - 1);
    inner = in_range(inner) ? inner : element;
    outer = in_range(outer) ? outer : element;
    if (turn > 1) {
        return element;
    }
    const bool goes_outwards = turn == 0 ? outer != element : inner == element;
    return goes_outwards ? outer : inner;
}

}  // namespace dmlconform::cpu
