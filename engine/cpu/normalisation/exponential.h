// The exponential function for non-positive numbers. Unlike std::exp, it can be vectorised and gives the same result on
// every processor.
#pragma once

#include <bit>
#include <cstdint>

namespace dmlconform::cpu::normalisation {

/// e to the power of x, for x from -infinity to 0, or NaN. The relative error is below 2^-43, which is negligible in
/// FP32: Direct3D allows 2^-21. The result is exactly 1 for 0, and 0 below e^-708.
[[nodiscard]] inline double exponential(double x) {
    // x = n * ln 2 + r, with |r| up to ln 2 / 2. Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits.
    // The additional 1023 is the exponent bias of a double.
    constexpr double shift = 0x1.8p52 + 1023;
    const double shifted = x * 0x1.71547652b82fep0 + shift;
    const double n = shifted - shift;
    const double r = x - n * 0x1.62e42fefa39efp-1;
    // (exp(r) - 1 - r) / r^2 as two polynomials of r * r. Among polynomials of this degree they have the smallest
    // relative error of exp(r), 2^-45.8. Found by Remez's algorithm.
    const double s = r * r;
    const double even =
        0x1.fffffffff13f5p-2 + s * (0x1.5555557deefedp-5 + s * (0x1.6c163be90213fp-10 + s * 0x1.a16e32e2c4edep-16));
    const double odd =
        0x1.5555555589f03p-3 + s * (0x1.1111108e2c71ap-7 + s * (0x1.a01b738487b3fp-13 + s * 0x1.7101824654be4p-19));
    const double power = 1 + (r + s * (even + r * odd));
    const double result = power * std::bit_cast<double>(std::bit_cast<std::uint64_t>(shifted) << 52);
    // Below this limit, n is not a valid exponent. Selected by bit operations, because compilers do not vectorise a
    // loop with a branch.
    const std::uint64_t all = static_cast<std::uint64_t>(x < -708) - 1;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) & all);
}

}  // namespace dmlconform::cpu::normalisation
