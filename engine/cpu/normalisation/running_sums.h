// Sums of many numbers in an order that is fixed by their count alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::normalisation {

/// Sums f(values[i]) as eight running sums, so that the compiler may use vector registers of any width without changing
/// the result.
template <class F>
[[nodiscard]] double sum(std::span<const double> values, const F& f) {
    std::array<double, 8> all{};
    in_wide_lanes(values, all, [&](double& total, double value) { total += f(value); });
    return ((all[0] + all[1]) + (all[2] + all[3])) + ((all[4] + all[5]) + (all[6] + all[7]));
}

}  // namespace dmlconform::cpu::normalisation
