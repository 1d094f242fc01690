// Sums of many numbers in an order that is fixed by their count alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::normalisation {

/// Sums f(values[i]) as so many running sums, a power of two, so that the compiler may use vector registers of any
/// width without changing the result. More of them than one register holds need not wait for each other.
template <std::size_t lanes = 8, class F>
[[nodiscard]] double sum(std::span<const double> values, const F& f) {
    std::array<double, lanes> all{};
    in_wide_lanes(values, all, [&](double& total, double value) { total += f(value); });
    for (std::size_t step = 1; step < lanes; step *= 2) {
        for (std::size_t lane = 0; lane < lanes; lane += 2 * step) {
            all[lane] += all[lane + step];
        }
    }
    return all[0];
}

}  // namespace dmlconform::cpu::normalisation
