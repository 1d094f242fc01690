// QUANTIZED_LINEAR_CONVOLUTION: an exact integer convolution, requantised once in double.
#include "engine/operators/rules/quantized_linear_convolution.h"

#include <algorithm>
#include <limits>

#include "engine/cpu/elements.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/requantise.h"
#include "engine/cpu/xtensor.h"

namespace dmlconform::cpu {
namespace {

using operators::QuantizedLinearConvolution;

/// Order of Descriptor::inputs().
enum Input : std::size_t {
    input_tensor,
    input_scale,
    input_zero_point,
    filter_tensor,
    filter_scale,
    filter_zero_point,
    bias_tensor,
    output_scale,
    output_zero_point,
};

/// Everything packed, with zero points subtracted: |x| and |w| are at most 255.
struct Operands {
    xt::xtensor<std::int32_t, 4> x;  // N, C, H, W
    xt::xtensor<std::int32_t, 4> w;  // K, C / groups, R, S
    xt::xtensor<std::int64_t, 1> bias;
    xt::xtensor<double, 1> multiplier;
    std::int32_t output_zero_point = 0;
};

Operands gather(const QuantizedLinearConvolution& op, std::span<const core::Tensor* const> inputs) {
    using Shape = std::array<std::size_t, 4>;
    const auto& [height, width] = op.spatial;
    Operands result;
    result.x = xt::reshape_view(elements<std::int32_t>(*inputs[input_tensor]),
                                Shape{op.batch, op.input_channels, height.input, width.input}) -
               scalar<std::int32_t>(inputs[input_zero_point], 0);
    result.w = xt::reshape_view(elements<std::int32_t>(*inputs[filter_tensor]),
                                Shape{op.output_channels, op.group_channels, height.filter, width.filter});
    result.bias = xt::zeros<std::int64_t>({op.output_channels});
    if (inputs[bias_tensor] != nullptr) {
        result.bias = xt::flatten(elements<std::int64_t>(*inputs[bias_tensor]));
    }
    const auto scales = elements<double>(*inputs[filter_scale]);
    const double sx = scalar<double>(inputs[input_scale], 1);
    const double sy = scalar<double>(inputs[output_scale], 1);
    const auto zero_points = inputs[filter_zero_point] == nullptr ? xt::xarray<std::int32_t>()
                                                                  : elements<std::int32_t>(*inputs[filter_zero_point]);
    result.multiplier = xt::zeros<double>({op.output_channels});
    for (std::size_t k = 0; k < op.output_channels; ++k) {
        result.multiplier(k) = sx * scales.data()[op.per_channel_scale ? k : 0] / sy;
        if (zero_points.dimension() > 0) {
            xt::view(result.w, k) -= zero_points.data()[op.per_channel_zero_point ? k : 0];
        }
    }
    result.output_zero_point = scalar<std::int32_t>(inputs[output_zero_point], 0);
    return result;
}

/// Output columns [first, last) for which filter column `s` lies on the input, and the input column of the first.
struct Columns {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t input = 0;
};

/// Output position `o` reads input position o * stride + tap * dilation - start padding.
std::int64_t input_position(const QuantizedLinearConvolution::Spatial& s, std::int64_t output, std::int64_t tap) {
    return output * s.stride + tap * s.dilation - s.start_padding;
}

Columns columns_on_input(const QuantizedLinearConvolution::Spatial& s, std::int64_t tap) {
    const std::int64_t origin = input_position(s, 0, tap);
    const std::int64_t stride = s.stride;
    Columns columns;
    columns.first = origin >= 0 ? 0 : (-origin + stride - 1) / stride;
    columns.last = origin >= s.input ? 0 : std::min<std::int64_t>(s.output, (s.input - 1 - origin) / stride + 1);
    columns.input = origin + columns.first * stride;
    return columns;
}

/// Adds to `accumulators` the products for one output row. Padding contributes nothing: it stands for the zero point.
template <class Accumulator>
void accumulate_row(const QuantizedLinearConvolution& op, const Operands& operands, std::size_t n, std::size_t k,
                    std::int64_t p, std::span<Accumulator> accumulators) {
    const auto& [height, width] = op.spatial;
    const std::size_t first_channel = k / (op.output_channels / op.groups) * op.group_channels;
    for (std::size_t c = 0; c < op.group_channels; ++c) {
        for (std::size_t r = 0; r < height.filter; ++r) {
            const std::int64_t row = input_position(height, p, static_cast<std::int64_t>(r));
            if (row < 0 || row >= height.input) {
                continue;
            }
            const std::int32_t* x = &operands.x(n, first_channel + c, static_cast<std::size_t>(row), 0);
            for (std::size_t s = 0; s < width.filter; ++s) {
                const Accumulator w = operands.w(k, c, r, s);
                const Columns columns = columns_on_input(width, static_cast<std::int64_t>(s));
                for (std::int64_t q = columns.first; q < columns.last; ++q) {
                    accumulators[static_cast<std::size_t>(q)] +=
                        w * x[columns.input + (q - columns.first) * width.stride];
                }
            }
        }
    }
}

template <class Accumulator, class Output>
void convolve(const QuantizedLinearConvolution& op, const Operands& operands, core::Tensor& output,
              core::ElementSlack* slack) {
    const QuantizedLinearConvolution::Spatial& height = op.spatial[0];
    const QuantizedLinearConvolution::Spatial& width = op.spatial[1];
    const std::int64_t rows = std::int64_t{op.batch} * op.output_channels * height.output;
    const std::int64_t cost = std::int64_t{op.group_channels} * height.filter * width.filter * width.output;
    const core::Strides packed = [&] {
        const auto strides = core::packed_strides(op.output.sizes);
        return core::Strides(strides.begin(), strides.end());
    }();
    const core::StridedRuns<2> positions(op.output.sizes, {core::signed_strides(op.output), packed});
    Output* const target = output.as<Output>().data();
    parallel_for(rows, cost, [&](std::int64_t first, std::int64_t last) {
        auto accumulators = xt::xtensor<Accumulator, 1>::from_shape({width.output});
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t p = row % height.output;
            const auto k = static_cast<std::size_t>(row / height.output % op.output_channels);
            const auto n = static_cast<std::size_t>(row / height.output / op.output_channels);
            accumulators.fill(0);
            accumulate_row<Accumulator>(op, operands, n, k, p, {accumulators.data(), accumulators.size()});
            for (std::int64_t q = 0; q < width.output; ++q) {
                const auto result = requantise(std::int64_t{accumulators.data()[q]} + operands.bias(k),
                                               operands.multiplier(k), operands.output_zero_point,
                                               std::numeric_limits<Output>::min(), std::numeric_limits<Output>::max());
                const auto [to, logical] = positions.offsets_of(row * width.output + q);
                target[to] = static_cast<Output>(result.value);
                if (slack != nullptr) {
                    slack->below[static_cast<std::size_t>(logical)] = result.below;
                    slack->above[static_cast<std::size_t>(logical)] = result.above;
                }
            }
        }
    });
}

template <class Output>
void convolve_with_fitting_accumulator(const QuantizedLinearConvolution& op, const Operands& operands,
                                       core::Tensor& output, core::ElementSlack* slack) {
    // The sum of that many products of two numbers of at most 255 fits 31 bits.
    constexpr std::uint64_t terms_in_32_bits = 0x7fffffff / (255 * 255);
    const std::uint64_t terms = operands.w.size() / op.output_channels;
    if (terms <= terms_in_32_bits) {
        convolve<std::int32_t, Output>(op, operands, output, slack);
    } else {
        convolve<std::int64_t, Output>(op, operands, output, slack);
    }
}

void compute(const KernelArguments& arguments) {
    const QuantizedLinearConvolution op(arguments.descriptor);
    const Operands operands = gather(op, arguments.inputs);
    core::ElementSlack* slack = arguments.slack.empty() ? nullptr : &arguments.slack[0];
    if (op.output.data_type == core::DataType::int8) {
        convolve_with_fitting_accumulator<std::int8_t>(op, operands, *arguments.outputs[0], slack);
    } else {
        convolve_with_fitting_accumulator<std::uint8_t>(op, operands, *arguments.outputs[0], slack);
    }
}

}  // namespace

Kernels quantized_linear_convolution_kernels() {
    return {{.name = "QUANTIZED_LINEAR_CONVOLUTION", .compute = compute, .tolerance = [](const auto&, const auto&) {
                 return requantised_tolerance();
             }}};
}

}  // namespace dmlconform::cpu
