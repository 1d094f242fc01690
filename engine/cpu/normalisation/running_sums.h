// Sums of many numbers in an order that is fixed by their count alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::normalisation {

/// Sums f(number) of all stretches of numbers as so many running sums, a power of two, so that the compiler may use
/// vector registers of any width without changing the result. More of them than one register holds need not wait for
/// each other. How numbers are divided into stretches does not matter if all but the last are multiples of that long.
template <std::size_t lanes = 8, class Number, class F>
[[nodiscard]] double sum(std::span<const std::span<const Number>> stretches, const F& f) {
    std::array<double, lanes> all{};
    for (const std::span<const Number>& stretch : stretches) {
        in_wide_lanes(stretch, all, [=](double& total, Number number) { total += f(double{number}); });
    }
    for (std::size_t step = 1; step < lanes; step *= 2) {
        for (std::size_t lane = 0; lane < lanes; lane += 2 * step) {
            all[lane] += all[lane + step];
        }
    }
    return all[0];
}

/// The same of a single one.
template <std::size_t lanes = 8, class F>
[[nodiscard]] double sum(std::span<const double> values, const F& f) {
    return sum<lanes, double>(std::span(&values, 1), f);
}

}  // namespace dmlconform::cpu::normalisation
