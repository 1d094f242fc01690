// GEMM, convolutions, and products of quantised numbers.
#include "engine/cpu/definitions/activation.h"
#include "engine/cpu/definitions/quantisation.h"

namespace dmlconform::cpu::definitions::product_definitions {
namespace {

/// The element in a row and a column of the matrix that has the other coordinates of `at`.
template <class Number>
const Number& of_matrix(const Array<Number>& matrices, const Index& at, std::int64_t row, std::int64_t column) {
    const std::size_t rank = at.size();
    return matrices.repeated(at.with(rank - 2, row).with(rank - 1, column));
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_gemm_operator_desc
// Output = FusedActivation(Alpha * TransA(A) x TransB(B) + Beta * C)
constexpr auto gemm = []<class Real>(Call& call) {
    using operators::MatrixTransform;
    const auto a = call.input<Real>("ATensor");
    const auto b = call.input<Real>("BTensor");
    const auto c = call.input<Real>("CTensor");
    const bool trans_a = enumerator<MatrixTransform>(call.descriptor, "TransA") == MatrixTransform::transpose;
    const bool trans_b = enumerator<MatrixTransform>(call.descriptor, "TransB") == MatrixTransform::transpose;
    auto& output = call.output<Real>("OutputTensor");
    const std::size_t rank = output.sizes.size();
    const std::int64_t depth = a.sizes[trans_a ? rank - 2 : rank - 1];
    for_each_index(output.sizes, [&](const Index& at) {
        const std::int64_t i = at[rank - 2];
        const std::int64_t j = at[rank - 1];
        Real sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
            const Real& left = trans_a ? of_matrix(a, at, k, i) : of_matrix(a, at, i, k);
            const Real& right = trans_b ? of_matrix(b, at, j, k) : of_matrix(b, at, k, j);
            sum += left * right;
        }
        output[at] = Real(call.number("Alpha")) * sum;
        if (call.has("CTensor")) {
            output[at] += Real(call.number("Beta")) * c.repeated(at);
        }
    });
    fuse_activation(call.descriptor, output);
};

/// The entry of a list of attributes for each spatial dimension. Lists may have leading entries for dimensions that the
/// tensor lacks.
Index spatial(const Call& call, std::string_view name, std::size_t dimensions) {
    const Index all = call.uints(name);
    return all.part(all.size() - dimensions, all.size());
}

/// Calls visit(index of the input, index of the filter) for all pairs of elements whose product is a term of the output
/// element `at`. Forward, filter element t of output position p meets input position
///   p * Strides + t * Dilations - StartPadding,
/// and backward the other way round.
template <class Visit>
void for_each_pair(const Call& call, const Index& at, const Visit& visit) {
    const Index input = call.sizes("InputTensor");
    const Index filter = call.sizes("FilterTensor");
    const Index output = call.sizes("OutputTensor");
    const std::size_t spatials = input.size() - 2;
    const Index strides = spatial(call, "Strides", spatials);
    const Index dilations = spatial(call, "Dilations", spatials);
    const Index padding = spatial(call, "StartPadding", spatials);
    const Index unseen =
        call.has_field("OutputPadding") ? spatial(call, "OutputPadding", spatials) : Index::of(spatials, 0);
    using Direction = operators::ConvolutionDirection;
    const bool backward =
        call.has_field("Direction") && enumerator<Direction>(call.descriptor, "Direction") == Direction::backward;
    using Mode = operators::ConvolutionMode;
    const bool mirrored = call.has_field("Mode") && enumerator<Mode>(call.descriptor, "Mode") == Mode::convolution;
    const std::int64_t groups = call.uint("GroupCount");
    const std::int64_t group = at[1] / (output[1] / groups);
    const std::int64_t channels = input[1] / groups;
    const Index taps = filter.part(2, filter.size());
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        for_each_index(taps, [&](const Index& tap) {
            Index from{at[0], group * channels + channel};
            Index by =
                backward ? Index{group * channels + channel, at[1] % (output[1] / groups)} : Index{at[1], channel};
            for (std::size_t d = 0; d < spatials; ++d) {
                const std::int64_t position = at[d + 2];
                const std::int64_t shift = tap[d] * dilations[d] - padding[d];
                const std::int64_t steps = position - shift;
                const bool meets = position < output[d + 2] - unseen[d] && (!backward || steps % strides[d] == 0);
                from.push_back(!meets ? -1 : backward ? steps / strides[d] : position * strides[d] + shift);
                by.push_back(mirrored ? taps[d] - 1 - tap[d] : tap[d]);
            }
            if (from.is_inside(input)) {
                visit(from, by);
            }
        });
    }
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_convolution_operator_desc
// Each output element is the sum of products of the filter and the part of the input below it, plus the channel's bias.
constexpr auto convolution = []<class Real>(Call& call) {
    const auto input = call.input<Real>("InputTensor");
    const auto filter = call.input<Real>("FilterTensor");
    const auto bias = call.input<Real>("BiasTensor");
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        Real sum = 0;
        for_each_pair(call, at, [&](const Index& from, const Index& by) { sum += input[from] * filter[by]; });
        output[at] = sum + bias.of(at[1]);
    });
    fuse_activation(call.descriptor, output);
};

/// The sum of products of the integers of a convolution. Padding has the value of the zero point, so it adds nothing.
Array<Signed> convolved(const Call& call) {
    const auto input = call.input<Signed>("InputTensor");
    const auto zero = call.input<Signed>("InputZeroPointTensor");
    const auto filter = call.input<Signed>("FilterTensor");
    const auto filter_zero = call.input<Signed>("FilterZeroPointTensor");
    Array<Signed> sums(call.sizes("OutputTensor"));
    for_each_index(sums.sizes, [&](const Index& at) {
        for_each_pair(call, at, [&](const Index& from, const Index& by) {
            sums[at] = sums[at] + (input[from] - zero.of(0)) * (filter[by] - filter_zero.of(by[0]));
        });
    });
    return sums;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_convolution_integer_operator_desc
// The sum of (Input - InputZeroPoint) * (Filter - FilterZeroPoint).
constexpr auto convolution_integer = []<class Real>(Call& call) {
    call.output<Signed>("OutputTensor") = convolved(call);
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_quantized_linear_convolution_operator_desc
// The convolution of the dequantised numbers plus the bias, quantised: the sum of integers times
// InputScale * FilterScale / OutputScale.
constexpr auto quantized_linear_convolution = []<class Real>(Call& call) {
    const Array<Signed> sums = convolved(call);
    const auto scale = call.input<Real>("InputScaleTensor", 1);
    const auto filter_scale = call.input<Real>("FilterScaleTensor", 1);
    const auto bias = call.input<Signed>("BiasTensor");
    const auto output_scale = call.input<Real>("OutputScaleTensor", 1);
    const auto output_zero = call.input<Real>("OutputZeroPointTensor");
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        const Signed sum = sums[at] + bias.of(at[1]);
        const Real multiplier = scale.of(0) * filter_scale.of(at[1]) / output_scale.of(0);
        output[at] =
            quantised(Real(static_cast<double>(sum.value)) * multiplier, output_zero.of(0), call.type("OutputTensor"));
    });
};

/// The sum of products of the integers of a row and a column.
Signed multiplied(const Call& call, const Array<Signed>& a, const Array<Signed>& b, const Index& at) {
    const std::size_t rank = at.size();
    const auto a_zero = call.input<Signed>("AZeroPointTensor");
    const auto b_zero = call.input<Signed>("BZeroPointTensor");
    Signed sum = 0;
    for (std::int64_t k = 0; k < a.sizes.back(); ++k) {
        sum = sum + (of_matrix(a, at, at[rank - 2], k) - a_zero.of(at[rank - 2])) *
                        (of_matrix(b, at, k, at[rank - 1]) - b_zero.of(at[rank - 1]));
    }
    return sum;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_matrix_multiply_integer_operator_desc
// (A - AZeroPoint) x (B - BZeroPoint). Zero points are those of a row of A and of a column of B.
constexpr auto matrix_multiply_integer = []<class Real>(Call& call) {
    const auto a = call.input<Signed>("ATensor");
    const auto b = call.input<Signed>("BTensor");
    auto& output = call.output<Signed>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) { output[at] = multiplied(call, a, b, at); });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_quantized_linear_matrix_multiply_operator_desc
// The product of the dequantised matrices, quantised with the scale and the zero point of its row.
constexpr auto quantized_linear_matrix_multiply = []<class Real>(Call& call) {
    const auto a = call.input<Signed>("ATensor");
    const auto b = call.input<Signed>("BTensor");
    const auto a_scale = call.input<Real>("AScaleTensor");
    const auto b_scale = call.input<Real>("BScaleTensor");
    const auto scale = call.input<Real>("OutputScaleTensor");
    const auto zero = call.input<Real>("OutputZeroPointTensor");
    auto& output = call.output<Real>("OutputTensor");
    const std::size_t rank = output.sizes.size();
    for_each_index(output.sizes, [&](const Index& at) {
        const std::int64_t row = at[rank - 2];
        const Real sum(static_cast<double>(multiplied(call, a, b, at).value));
        const Real multiplier = a_scale.of(row) * b_scale.of(at[rank - 1]) / scale.of(row);
        output[at] = quantised(sum * multiplier, zero.of(row), call.type("OutputTensor"));
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_matrix_multiply_integer_to_float_operator_desc
// ((A - AZeroPoint) * AScale) x ((B - BZeroPoint) * BScale) + Bias
constexpr auto matrix_multiply_integer_to_float = []<class Real>(Call& call) {
    const auto a = call.input<Real>("ATensor");
    const auto b = call.input<Real>("BTensor");
    const auto a_scale = call.input<Real>("AScaleTensor");
    const auto b_scale = call.input<Real>("BScaleTensor");
    const auto a_zero = call.input<Real>("AZeroPointTensor");
    const auto b_zero = call.input<Real>("BZeroPointTensor");
    const auto bias = call.input<Real>("BiasTensor");
    auto& output = call.output<Real>("OutputTensor");
    const std::size_t rank = output.sizes.size();
    for_each_index(output.sizes, [&](const Index& at) {
        const std::int64_t row = at[rank - 2];
        const std::int64_t column = at[rank - 1];
        Real sum = 0;
        for (std::int64_t k = 0; k < a.sizes.back(); ++k) {
            sum += (of_matrix(a, at, row, k) - a_zero.of(row)) * a_scale.of(row) *
                   ((of_matrix(b, at, k, column) - b_zero.of(column)) * b_scale.of(column));
        }
        output[at] = call.has("BiasTensor") ? sum + bias.repeated(at) : sum;
    });
};

}  // namespace

Definitions definitions() {
    return {define("GEMM", gemm),
            define("CONVOLUTION", convolution),
            define("CONVOLUTION_INTEGER", convolution_integer),
            define("QUANTIZED_LINEAR_CONVOLUTION", quantized_linear_convolution),
            define("MATRIX_MULTIPLY_INTEGER", matrix_multiply_integer),
            define("QUANTIZED_LINEAR_MATRIX_MULTIPLY", quantized_linear_matrix_multiply),
            define("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", matrix_multiply_integer_to_float)};
}

}  // namespace dmlconform::cpu::definitions::product_definitions
