// The exponential function of numbers that are not positive, made of operations that compilers make vectors of, and
// that give the same result on every processor. The standard library's does neither.
#pragma once

#include <bit>
#include <cstdint>

namespace dmlconform::cpu::normalisation {

/// e to the power of x, for x from -infinity to 0, or NaN. Off by less than one place of a double.
[[nodiscard]] inline double exponential(double x) {
    // x = n * ln 2 + r, with |r| up to ln 2 / 2. Adding 1.5 * 2^52 rounds to an integer, which is in the last bits
    // then.
    constexpr double shift = 0x1.8p52;
    const double shifted = x * 0x1.71547652b82fep0 + shift;
    const double n = shifted - shift;
    // The first part of ln 2 has so few digits that the product is exact.
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    // exp(r) - 1 - r by r * r: Taylor's series, as two polynomials of r * r.
    const double s = r * r;
    const double even =
        1.0 / 2 + s * (1.0 / 24 + s * (1.0 / 720 + s * (1.0 / 40320 + s * (1.0 / 3628800 + s * (1.0 / 479001600)))));
    const double odd =
        1.0 / 6 +
        s * (1.0 / 120 + s * (1.0 / 5040 + s * (1.0 / 362880 + s * (1.0 / 39916800 + s * (1.0 / 6227020800)))));
    const double power = 1 + (r + s * (even + r * odd));
    // Times 2^n in two steps: n may be below every exponent, and the last product is the only one that is rounded.
    const std::uint64_t places = std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(shift);
    const std::uint64_t half = ((places + 4096) >> 1) - 2048;
    const std::uint64_t rest = places - half;
    const double result =
        power * std::bit_cast<double>((half + 1023) << 52) * std::bit_cast<double>((rest + 1023) << 52);
    // What is smaller is 0, too. By its bits: compilers make no vectors of a loop with a branch.
    const std::uint64_t all = static_cast<std::uint64_t>(x < -746) - 1;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) & all);
}

}  // namespace dmlconform::cpu::normalisation
