// Sums of many numbers, in an order that depends only on their count.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::normalisation {

/// Sums f(number) over all segments in `lanes` running sums, a power of two. The compiler can use vector registers of
/// any width without changing the result, and independent sums hide the latency of additions. The division into
/// segments does not matter if all lengths except the last are multiples of `lanes`.
template <std::size_t lanes = 8, class Number, class F>
[[nodiscard]] double sum(std::span<const std::span<const Number>> segments, const F& f) {
    std::array<double, lanes> all{};
    for (const std::span<const Number>& segment : segments) {
        in_wide_lanes(segment, all, [=](double& total, Number number) { total += f(double{number}); });
    }
    for (std::size_t step = 1; step < lanes; step *= 2) {
        for (std::size_t lane = 0; lane < lanes; lane += 2 * step) {
            all[lane] += all[lane + step];
        }
    }
    return all[0];
}

/// The same for a single segment.
template <std::size_t lanes = 8, class F>
[[nodiscard]] double sum(std::span<const double> values, const F& f) {
    return sum<lanes, double>(std::span(&values, 1), f);
}

}  // namespace dmlconform::cpu::normalisation
