// Quantisation. What comments say about DirectML 1.15.4 was measured on it. Equals definitions/element_wise.cpp.
#include "engine/cpu/element_wise/machine.h"

namespace dmlconform::cpu::quantisation_kernels {
namespace {

using namespace element_wise;

/// round(x) + zero point, clamped to the output's range. Measured on DirectML 1.15.4: halves are rounded to even.
template <class T, class Parameters>
T quantised(T x, T zero_point, const Parameters& p) {
    return min(max(round_half_even(x) + zero_point, p.lowest), p.highest);
}

/// The zero point of QUANTIZE and DEQUANTIZE. Measured on DirectML 1.15.4: if absent, it is the middle of the range,
/// also for unsigned types.
template <class T, class Parameters>
T zero_point_or_middle(T zero_point, unsigned bits, bool is_signed, const Parameters& p) {
    return p.present[2] ? zero_point : T(is_signed ? 0 : (1U << bits) / 2);
}

}  // namespace

Kernels kernels() {
    std::vector<Row> rows{
        // Measured on DirectML 1.15.4: NaN gives 0, whatever the zero point.
        ternary<Real>("ELEMENT_WISE_QUANTIZE_LINEAR",
                      [](auto x, auto scale, auto zero_point, auto& p) {
                          const auto quotient = integer_in_fp32(x) / scale;
                          return select(is_nan(quotient), decltype(x)(0), quantised(quotient, zero_point, p));
                      }),
        ternary<Real>("ELEMENT_WISE_DEQUANTIZE_LINEAR",
                      [](auto x, auto scale, auto zero_point) {
                          return (integer_in_fp32(x) - integer_in_fp32(zero_point)) * scale;
                      }),
        formula<Real, 8>(
            "ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
            [](auto a, auto a_scale, auto a_zero, auto b, auto b_scale, auto b_zero, auto scale, auto zero, auto& p) {
                const auto sum = (a - a_zero) * a_scale + (b - b_zero) * b_scale;
                return quantised(sum / scale, zero, p);
            }),
        ternary<Real>("QUANTIZE",
                      [](auto x, auto scale, auto zero_point, auto& p) {
                          return quantised(x / scale,
                                           zero_point_or_middle(zero_point, p.output_bits, p.output_is_signed, p), p);
                      }),
        ternary<Real>("DEQUANTIZE",
                      [](auto x, auto scale, auto zero_point, auto& p) {
                          return (x - zero_point_or_middle(zero_point, p.input_bits, p.input_is_signed, p)) * scale;
                      }),
    };
    for (Row& row : rows) {
        row.operands = Operands::as_real;
    }
    return kernels_of(std::move(rows));
}

}  // namespace dmlconform::cpu::quantisation_kernels
