// The exponential function of numbers that are not positive, made of operations that compilers make vectors of, and
// that give the same result on every processor. The standard library's does neither.
#pragma once

#include <bit>
#include <cstdint>

namespace dmlconform::cpu::normalisation {

/// e to the power of x, for x from -infinity to 0, or NaN. The relative error is below 2^-43, which no FP32 result
/// shows: Direct3D allows its own function 2^-21. It is exactly 1 for 0. What is below e^-708 is 0.
[[nodiscard]] inline double exponential(double x) {
    // x = n * ln 2 + r, with |r| up to ln 2 / 2. Adding 1.5 * 2^52 rounds to an integer, which is in the last bits
    // then, and 1023 more is the exponent that 2^n has as a double.
    constexpr double shift = 0x1.8p52 + 1023;
    const double shifted = x * 0x1.71547652b82fep0 + shift;
    const double n = shifted - shift;
    const double r = x - n * 0x1.62e42fefa39efp-1;
    // (exp(r) - 1 - r) / r^2 as two polynomials of r * r. Of all that have as many terms, these differ from exp(r) by
    // the least factor, 2^-45.8. Remez's algorithm found them.
    const double s = r * r;
    const double even =
        0x1.fffffffff13f5p-2 + s * (0x1.5555557deefedp-5 + s * (0x1.6c163be90213fp-10 + s * 0x1.a16e32e2c4edep-16));
    const double odd =
        0x1.5555555589f03p-3 + s * (0x1.1111108e2c71ap-7 + s * (0x1.a01b738487b3fp-13 + s * 0x1.7101824654be4p-19));
    const double power = 1 + (r + s * (even + r * odd));
    const double result = power * std::bit_cast<double>(std::bit_cast<std::uint64_t>(shifted) << 52);
    // Below, n is not an exponent. By the bits: compilers make no vectors of a loop with a branch.
    const std::uint64_t all = static_cast<std::uint64_t>(x < -708) - 1;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) & all);
}

}  // namespace dmlconform::cpu::normalisation
