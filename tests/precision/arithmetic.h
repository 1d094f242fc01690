// Number formats: how factors, products and sums are rounded, in FP32 as promised and in lower precision.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace dmlconform::precision {

/// Rounds to the nearest number with `bits` significant bits, by Veltkamp's splitting. Numbers close to the largest are
/// unchanged.
template <int bits>
[[nodiscard]] inline float rounded_to(float x) {
    constexpr float factor = static_cast<float>((1 << (24 - bits)) + 1);
    const float scaled = x * factor;
    return std::isfinite(scaled) ? scaled - (scaled - x) : x;
}

/// The nearest FP16 number. Adding and subtracting 0.75 rounds to multiples of 2^-24, the subnormal numbers of FP16.
[[nodiscard]] inline float rounded_to_fp16(float x) {
    const float result = std::fabs(x) < 0x1p-14f ? (x + 0.75f) - 0.75f : rounded_to<11>(x);
    return std::fabs(result) > 65504.0f ? std::copysign(std::numeric_limits<float>::infinity(), x) : result;
}

/// The sum rounded towards zero: the nearest number, reduced by one ULP in magnitude if it is too large (Knuth's
/// TwoSum).
[[nodiscard]] inline float sum_towards_zero(float a, float b) {
    const float sum = a + b;
    const float rest = sum - a;
    const float lacking = (a - (sum - rest)) + (b - rest);
    const bool too_large = std::isfinite(sum) && ((lacking < 0 && sum > 0) || (lacking > 0 && sum < 0));
    return too_large ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) - 1) : sum;
}

struct Fp32 {
    static float operand(float x) { return x; }
    static float product(float a, float b) { return a * b; }
    static float sum(float a, float b) { return a + b; }
    static float fused(float a, float b, float c) { return std::fma(a, b, c); }
    /// The rounding of operations other than products and sums.
    static float result(float x) { return x; }
};

/// FP32 in which subnormal numbers become zero everywhere.
struct FlushedFp32 {
    static float result(float x) {
        return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
    }
    static float operand(float x) { return result(x); }
    static float product(float a, float b) { return result(result(a) * result(b)); }
    static float sum(float a, float b) { return result(result(a) + result(b)); }
    static float fused(float a, float b, float c) { return result(std::fma(result(a), result(b), result(c))); }
};

/// TF32 as in tensor cores: factors have fewer bits, sums are FP32.
struct Tf32 : Fp32 {
    static float operand(float x) { return rounded_to<11>(x); }
};
/// TF32 that truncates the lowest bits of factors.
struct TruncatedTf32 : Fp32 {
    static float operand(float x) {
        return std::isfinite(x) ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u) : x;
    }
};
struct Bf16 : Fp32 {
    static float operand(float x) { return rounded_to<8>(x); }
};
struct Fp16 : Fp32 {
    static float operand(float x) { return rounded_to_fp16(x); }
};

struct Fp16Accumulation {
    static float operand(float x) { return rounded_to_fp16(x); }
    static float product(float a, float b) { return rounded_to_fp16(a * b); }
    static float sum(float a, float b) { return rounded_to_fp16(a + b); }
    static float fused(float a, float b, float c) { return rounded_to_fp16(std::fma(a, b, c)); }
    static float result(float x) { return x; }
};

struct TowardZero : Fp32 {
    static float sum(float a, float b) { return sum_towards_zero(a, b); }
};

/// The FP32 number towards zero. Products of two FP32 numbers are exact in double.
[[nodiscard]] inline float cut_to_fp32(double x) {
    const auto nearest = static_cast<float>(x);
    const bool too_large = std::isfinite(nearest) && std::fabs(double{nearest}) > std::fabs(x);
    return too_large ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - 1) : nearest;
}

/// Sums and their terms are rounded towards zero.
struct TermsTowardZero : TowardZero {
    static float product(float a, float b) { return cut_to_fp32(double{a} * double{b}); }
    static float fused(float a, float b, float c) { return cut_to_fp32(std::fma(double{a}, double{b}, double{c})); }
};

}  // namespace dmlconform::precision
