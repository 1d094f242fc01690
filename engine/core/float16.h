// IEEE 754 binary16 as a storage type, with correctly rounded conversions.
//
// Conversions to binary16 round to nearest, ties to even, and overflow to infinity. They start from
// double so that a result computed in double is rounded once, not twice.
#pragma once

#include <bit>
#include <cstdint>

namespace dmlconform::core {

[[nodiscard]] inline std::uint16_t float16_bits_from_double(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000u);
    const std::uint64_t magnitude = bits & 0x7fffffffffffffffu;
    if (magnitude > 0x7ff0000000000000u) {
        // For a NaN, keep the top of the payload and set the quiet bit: with a payload of zeros it would become an
        // infinity.
        return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 42) & 0x3ffu));
    }
    const auto absolute = std::bit_cast<double>(magnitude);
    if (absolute >= 65520.0) {  // halfway between 65504, the largest finite number, and 65536
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    }
    if (absolute < 0x1p-14) {
        // A subnormal, or a number that rounds up to the smallest normal one. One ULP of a double near 2^28 is 2^-24,
        // which is also one ULP of a subnormal binary16. So the addition rounds correctly and leaves the binary16 bits
        // in the low bits of the sum.
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint64_t>(absolute + 0x1p28) & 0x7ffu));
    }
    // Drop 42 of the 52 significand bits and round half to even. A carry increments the exponent, which is adjacent.
    const std::uint64_t rounded = (magnitude + 0x1ffffffffffu + ((magnitude >> 42) & 1u)) >> 42;
    return static_cast<std::uint16_t>(sign | (rounded - (std::uint64_t{1023 - 15} << 10)));
}

[[nodiscard]] inline double float16_bits_to_double(std::uint16_t bits) {
    // With binary16's exponent and significand shifted into a float's fields, the float is 2^112 times too small. This
    // holds for subnormals, too.
    const std::uint32_t moved = static_cast<std::uint32_t>(bits & 0x7fffu) << 13;
    const bool finite = (bits & 0x7c00u) != 0x7c00u;
    const float magnitude = finite ? std::bit_cast<float>(moved) * 0x1p112f : std::bit_cast<float>(moved | 0x7f800000u);
    return (bits & 0x8000u) != 0 ? -double{magnitude} : double{magnitude};
}

/// A binary16 number. Arithmetic converts to double, computes, and converts back.
struct Float16 {
    std::uint16_t bits = 0;

    Float16() = default;
    explicit Float16(double value) : bits(float16_bits_from_double(value)) {}
    template <class T>
    explicit operator T() const {
        return static_cast<T>(float16_bits_to_double(bits));
    }

    [[nodiscard]] static Float16 from_bits(std::uint16_t bits) {
        Float16 result;
        result.bits = bits;
        return result;
    }
};

static_assert(sizeof(Float16) == 2);

}  // namespace dmlconform::core
