// QUANTIZED_LINEAR_CONVOLUTION: an exact sum of integers, requantised in double. Equals definitions/product.cpp.
#include <limits>

#include "engine/cpu/elements.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/product/integer_convolution.h"
#include "engine/cpu/product/requantise.h"

namespace dmlconform::cpu::quantized_linear_convolution_kernels {
namespace {

using product::Sums;

/// Indices into Descriptor::inputs().
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

/// The parameters that requantise the sums of an output channel.
struct Channel {
    std::int64_t bias = 0;
    Multiplier multiplier;
    std::int32_t zero_point = 0;
};

/// Output channels are the filter's first dimension.
std::size_t channel_count(std::span<const core::Tensor* const> inputs) {
    return inputs[filter_tensor]->desc.sizes.front();
}

std::vector<Channel> channels_of(std::span<const core::Tensor* const> inputs) {
    const std::size_t count = channel_count(inputs);
    const auto scales = elements<double>(*inputs[filter_scale]);
    const double sx = scalar<double>(inputs[input_scale], 1);
    const double sy = scalar<double>(inputs[output_scale], 1);
    const auto biases = inputs[bias_tensor] == nullptr ? xt::xarray<std::int64_t>(xt::zeros<std::int64_t>({count}))
                                                       : elements<std::int64_t>(*inputs[bias_tensor]);
    std::vector<Channel> channels;
    for (std::size_t k = 0; k < count; ++k) {
        channels.push_back({biases.data()[k], Multiplier::of(sx, scales.data()[scales.size() > 1 ? k : 0], sy),
                            scalar<std::int32_t>(inputs[output_zero_point], 0)});
    }
    return channels;
}

std::vector<int> filter_zero_points_of(std::span<const core::Tensor* const> inputs) {
    std::vector<int> zero_points(channel_count(inputs));
    if (inputs[filter_zero_point] != nullptr) {
        const auto given = elements<int>(*inputs[filter_zero_point]);
        for (std::size_t k = 0; k < zero_points.size(); ++k) {
            zero_points[k] = given.data()[given.size() > 1 ? k : 0];
        }
    }
    return zero_points;
}

/// Requantises the sums of a channel to contiguous elements.
template <class Output>
void requantise_sums(const Sums& sums, std::int64_t number, const Channel& channel, Output* to,
                     core::ElementSlack* slack) {
    if (slack == nullptr) {
        requantise(std::span(sums.values, static_cast<std::size_t>(sums.count)), static_cast<double>(channel.bias),
                   channel.multiplier.exact, channel.zero_point, to);
        return;
    }
    for (std::int64_t i = 0; i < sums.count; ++i) {
        const auto result =
            requantise(static_cast<std::int64_t>(sums.values[i]) + channel.bias, channel.multiplier, channel.zero_point,
                       std::numeric_limits<Output>::min(), std::numeric_limits<Output>::max());
        to[i] = static_cast<Output>(result.value);
        slack->below[static_cast<std::size_t>(number + i)] = result.below;
        slack->above[static_cast<std::size_t>(number + i)] = result.above;
    }
}

/// `packed` receives the elements in row-major order.
template <class Output>
void store_with_strides(const std::vector<Output>& packed, core::Tensor& output) {
    const core::StridedRuns<1> runs(output.desc.sizes, {core::signed_strides(output.desc)});
    Output* const target = output.as<Output>().data();
    const Output* from = packed.data();
    runs.for_each_run([&](const auto& offsets) {
        for (std::int64_t i = 0; i < runs.run_length(); ++i) {
            target[offsets[0] + i * runs.run_strides()[0]] = *from++;
        }
    });
}

template <class Output>
void convolve(const product::IntegerConvolution& convolution, const std::vector<Channel>& channels,
              core::Tensor& output, core::ElementSlack* slack) {
    const bool is_packed = core::is_packed(output.desc);
    std::vector<Output> packed(is_packed ? 0 : static_cast<std::size_t>(*core::element_count(output.desc.sizes)));
    Output* const to = is_packed ? output.as<Output>().data() : packed.data();
    const product::Shape shape = convolution.convolution.shape();
    product::convolve(convolution, [&](const Sums& sums) {
        // The sums are ordered by batch, then group.
        const auto channel = static_cast<std::size_t>(sums.batch * shape.rows + sums.row) % channels.size();
        const std::int64_t number = sums.number(shape);
        requantise_sums(sums, number, channels[channel], to + number, slack);
    });
    if (!is_packed) {
        store_with_strides(packed, output);
    }
}

void compute(const KernelArguments& arguments) {
    const auto inputs = arguments.inputs;
    const product::IntegerConvolution convolution{
        product::Convolution::of(arguments.descriptor), product::Bytes(*inputs[input_tensor]),
        scalar<int>(inputs[input_zero_point], 0), product::Bytes(*inputs[filter_tensor]),
        filter_zero_points_of(inputs)};
    const std::vector<Channel> channels = channels_of(inputs);
    core::ElementSlack* slack = arguments.slack.empty() ? nullptr : &arguments.slack[0];
    if (arguments.outputs[0]->desc.data_type == core::DataType::int8) {
        convolve<std::int8_t>(convolution, channels, *arguments.outputs[0], slack);
    } else {
        convolve<std::uint8_t>(convolution, channels, *arguments.outputs[0], slack);
    }
}

}  // namespace

Kernels kernels() {
    return {{.name = "QUANTIZED_LINEAR_CONVOLUTION", .compute = compute, .tolerance = [](const auto&, const auto&) {
                 return requantised_tolerance();
             }}};
}

}  // namespace dmlconform::cpu::quantized_linear_convolution_kernels
