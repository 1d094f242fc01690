// Rules of QUANTIZED_LINEAR_CONVOLUTION, from its documentation; channels and output sizes follow from the definition
// of a convolution. What comments say about DirectML 1.15.4 was measured on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/operators/rules.h"
#include "engine/operators/size_formula.h"
#include "engine/operators/window_reach.h"

namespace dmlconform::operators::quantized_linear_convolution_rules {
namespace {

constexpr std::size_t spatial_count = 2;

/// The output size along one dimension. `padded` is the size of the padded input.
template <class Number>
Number output_size(const Number& padded, const Number& filter, const Number& stride, const Number& dilation) {
    return (padded - (filter - 1) * dilation - 1) / stride + 1;
}

ExplainedRules explained() {
    const SizeFormula padded =
        SizeFormula("InputTensor[d + 2]") + SizeFormula("StartPadding[d]") + SizeFormula("EndPadding[d]");
    return {{"dimensionCount",
             "DimensionCount is 2. For tensors of three dimensions, entry 1 of the arrays is for dimension 2, the "
             "width."},
            {"groupCount", "GroupCount is at least 1 and divides the numbers of input and output channels."},
            {"batch", "OutputTensor[0] = InputTensor[0]."},
            {"outputChannels", "OutputTensor[1] = FilterTensor[0]."},
            {"inputChannels", "FilterTensor[1] = InputTensor[1] / GroupCount."},
            {"strideAndDilation", "Each stride and each dilation is at least 1."},
            {"heightPadding",
             "StartPadding[0] and EndPadding[0] are 0 for tensors of three dimensions, which have no height."},
            {"filterFits", "The filter with its dilation fits into the padded input along each dimension."},
            {"outputSize",
             "The output's size along each spatial dimension follows from the other fields.",
             {size_line("OutputTensor[d + 2]", output_size(padded, SizeFormula("FilterTensor[d + 2]"),
                                                           SizeFormula("Strides[d]"), SizeFormula("Dilations[d]")))}},
            {"parameterSizes",
             "Scales and zero points have one element. Those of the filter may also have OutputTensor[1] elements in "
             "dimension 1."},
            {"biasSizes", "BiasTensor has OutputTensor[1] elements in dimension 1, and size 1 in all others."}};
}

Verdict reject(std::string_view rule, std::string message) {
    return Rejection{
        .rule = fmt::format("QUANTIZED_LINEAR_CONVOLUTION.{}", rule), .message = std::move(message), .legal_from = {}};
}

/// The operator as a 2-D convolution. A 3-D tensor {N,C,W} has height 1, as in ONNX Runtime. Refers to the descriptor,
/// which must be valid and outlive it.
struct QuantizedLinearConvolution {
    explicit QuantizedLinearConvolution(const Descriptor& descriptor);

    /// One spatial dimension: 0 is height, 1 is width.
    struct Spatial {
        std::uint32_t input = 1;
        std::uint32_t filter = 1;
        std::uint32_t output = 1;
        std::uint32_t stride = 1;
        std::uint32_t dilation = 1;
        std::uint32_t start_padding = 0;
        std::uint32_t end_padding = 0;
    };

    const core::TensorDesc& input;
    const core::TensorDesc& filter;
    const core::TensorDesc& output;
    std::uint32_t batch = 0;
    std::uint32_t input_channels = 0;
    std::uint32_t output_channels = 0;
    /// Input channels of one group.
    std::uint32_t group_channels = 0;
    std::uint32_t groups = 0;
    std::array<Spatial, 2> spatial;
};

/// Empty for strides of 0 and filters that do not fit.
std::optional<std::uint64_t> output_size(const QuantizedLinearConvolution::Spatial& s) {
    // Cannot overflow: every factor is below 2^32, so the product is below 2^64, and it is compared before anything is
    // added.
    const std::uint64_t padded = std::uint64_t{s.input} + s.start_padding + s.end_padding;
    const std::uint64_t reach = std::uint64_t{s.filter - 1} * s.dilation;
    return s.stride == 0 || reach >= padded
               ? std::nullopt
               : std::optional(output_size<std::uint64_t>(padded, s.filter, s.stride, s.dilation));
}

Verdict check_spatial(const QuantizedLinearConvolution::Spatial& s, std::size_t index) {
    // The documentation does not define stride 0 and dilation 0. DirectML 1.15.4 accepts them.
    if (s.stride == 0 || s.dilation == 0) {
        return reject("strideAndDilation", fmt::format("Strides[{0}] is {1} and Dilations[{0}] is {2}; both must be at "
                                                       "least 1",
                                                       index, s.stride, s.dilation));
    }
    const std::uint64_t padded = std::uint64_t{s.input} + s.start_padding + s.end_padding;
    const std::uint64_t reach = std::uint64_t{s.filter - 1} * s.dilation;
    if (reach >= padded) {
        return reject("filterFits", fmt::format("spatial dimension {}: a filter of {} with dilation {} reaches over {} "
                                                "elements, the padded input has {}",
                                                index, s.filter, s.dilation, reach + 1, padded));
    }
    // DirectML 1.15.4 does not check the output's size. Without the formula, surplus elements would be undefined.
    const std::uint64_t output = *output_size(s);
    if (output != s.output) {
        return reject("outputSize", fmt::format("spatial dimension {}: OutputTensor has {} elements, the convolution "
                                                "gives {}",
                                                index, s.output, output));
    }
    return {};
}

Verdict check_channels(const QuantizedLinearConvolution& op) {
    const std::uint32_t filter_count = op.filter.sizes[0];
    if (op.groups == 0 || op.input_channels % op.groups != 0 || op.output_channels % op.groups != 0) {
        return reject("groupCount",
                      fmt::format("GroupCount is {}; it must be at least 1 and divide the {} input and {} "
                                  "output channels",
                                  op.groups, op.input_channels, op.output_channels));
    }
    if (op.output.sizes[0] != op.batch) {
        return reject("batch", fmt::format("InputTensor has batch {}, OutputTensor {}", op.batch, op.output.sizes[0]));
    }
    if (filter_count != op.output_channels) {
        return reject("outputChannels", fmt::format("FilterTensor has {} filters, OutputTensor {} channels",
                                                    filter_count, op.output_channels));
    }
    if (op.group_channels != op.input_channels / op.groups) {
        return reject("inputChannels",
                      fmt::format("FilterTensor has {} channels; {} input channels in {} groups are {}",
                                  op.group_channels, op.input_channels, op.groups, op.input_channels / op.groups));
    }
    return {};
}

/// Requires one element, or `channels` elements along dimension 1 if that is allowed.
Verdict check_parameter(const Descriptor& descriptor, const char* name, std::uint32_t channels) {
    const core::TensorDesc* desc = descriptor.tensor(name);
    if (desc == nullptr || *core::element_count(desc->sizes) == 1) {
        return {};
    }
    core::Dimensions per_channel(desc->sizes.size(), 1);
    if (channels > 0 && desc->sizes.size() > 1) {
        per_channel[1] = channels;
        if (desc->sizes == per_channel) {
            return {};
        }
    }
    return reject("parameterSizes",
                  fmt::format("{} has sizes {}; allowed is one element{}", name, core::to_string(desc->sizes),
                              channels > 0 ? fmt::format(" or {}", core::to_string(per_channel)) : ""));
}

std::vector<TensorSizes> convolution_sizes(const Descriptor& descriptor);

Verdict check_parameters(const Descriptor& descriptor, const QuantizedLinearConvolution& op) {
    for (const char* name :
         {"InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor"}) {
        if (auto rejection = check_parameter(descriptor, name, 0)) {
            return rejection;
        }
    }
    for (const char* name : {"FilterScaleTensor", "FilterZeroPointTensor"}) {
        if (auto rejection = check_parameter(descriptor, name, op.output_channels)) {
            return rejection;
        }
    }
    const core::TensorDesc* bias = descriptor.tensor("BiasTensor");
    const std::vector<std::uint64_t> expected = convolution_sizes(descriptor).back().sizes;
    if (bias != nullptr && !std::ranges::equal(bias->sizes, expected)) {
        return reject("biasSizes", fmt::format("BiasTensor has sizes {}; it must be [{}]", core::to_string(bias->sizes),
                                               fmt::join(expected, ",")));
    }
    return {};
}

Verdict validate_convolution(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    if (descriptor.uint("DimensionCount") != spatial_count) {
        return reject("dimensionCount", fmt::format("DimensionCount is {}; it must be 2, for 3-D tensors too",
                                                    descriptor.uint("DimensionCount")));
    }
    const QuantizedLinearConvolution op(descriptor);
    if (auto rejection = check_channels(op)) {
        return rejection;
    }
    // A tensor of three dimensions is treated as one of height 1. Padding the height would make outputs that see only
    // padding.
    const bool padded = op.spatial[0].start_padding != 0 || op.spatial[0].end_padding != 0;
    if (op.input.sizes.size() == 3 && padded) {
        return reject("heightPadding",
                      "StartPadding[0] and EndPadding[0] must be 0 for 3-D tensors, which have no height");
    }
    for (std::size_t i = 0; i < spatial_count; ++i) {
        if (auto rejection = check_spatial(op.spatial[i], i)) {
            return rejection;
        }
    }
    return check_parameters(descriptor, op);
}

QuantizedLinearConvolution::QuantizedLinearConvolution(const Descriptor& descriptor)
    : input(*descriptor.tensor("InputTensor")),
      filter(*descriptor.tensor("FilterTensor")),
      output(*descriptor.tensor("OutputTensor")),
      batch(input.sizes[0]),
      input_channels(input.sizes[1]),
      output_channels(output.sizes[1]),
      group_channels(filter.sizes[1]),
      groups(descriptor.uint("GroupCount")) {
    const bool has_height = input.sizes.size() == 4;
    for (std::size_t i = 0; i < spatial_count; ++i) {
        Spatial& s = spatial[i];
        s.stride = descriptor.uints("Strides")[i];
        s.dilation = descriptor.uints("Dilations")[i];
        s.start_padding = descriptor.uints("StartPadding")[i];
        s.end_padding = descriptor.uints("EndPadding")[i];
        if (i == 1 || has_height) {
            const std::size_t d = has_height ? 2 + i : 2;
            s.input = input.sizes[d];
            s.filter = filter.sizes[d];
            s.output = output.sizes[d];
        }
    }
}

/// The output, and the bias with one element for each of its channels.
std::vector<TensorSizes> convolution_sizes(const Descriptor& descriptor) {
    const std::size_t rank = descriptor.sizes("InputTensor").size();
    if (descriptor.uint("DimensionCount") != spatial_count || descriptor.sizes("FilterTensor").size() != rank ||
        descriptor.sizes("OutputTensor").size() != rank) {
        return {};
    }
    const QuantizedLinearConvolution op(descriptor);
    const std::uint64_t channels = op.filter.sizes[0];
    std::vector<std::uint64_t> output{op.batch, channels};
    for (std::size_t i = 4 - rank; i < spatial_count; ++i) {
        const auto size = output_size(op.spatial[i]);
        if (!size) {
            return {};
        }
        output.push_back(*size);
    }
    std::vector<std::uint64_t> bias(output.size(), 1);
    bias[1] = channels;
    return {{"OutputTensor", output}, {"BiasTensor", bias}};
}

WindowReach reach_of_filter(const QuantizedLinearConvolution::Spatial& s) {
    return window_reach({s.output, s.stride}, {s.filter, s.dilation}, s.start_padding, s.input);
}

/// One multiplication and one addition for each filter element at each of its positions, unless it is on padding.
double convolution_operations(const Descriptor& descriptor) {
    const QuantizedLinearConvolution op(descriptor);
    double terms = double{1} * op.batch * op.output_channels * op.group_channels;
    for (const QuantizedLinearConvolution::Spatial& s : op.spatial) {
        terms *= reach_of_filter(s).pairs;
    }
    return 2 * terms;
}

/// Only the elements of the input and the filter that meet, and all of the other tensors.
double convolution_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    const bool is_filter = input.name == "FilterTensor";
    if (!is_filter && input.name != "InputTensor") {
        return element_bytes(*input.desc);
    }
    const QuantizedLinearConvolution op(descriptor);
    const core::Dimensions& sizes = input.desc->sizes;
    std::vector<double> counts{double{1} * sizes[0], double{1} * sizes[1]};
    for (std::size_t i = 4 - sizes.size(); i < spatial_count; ++i) {
        const WindowReach reach = reach_of_filter(op.spatial[i]);
        counts.push_back(is_filter ? reach.window : reach.elements);
    }
    return element_bytes(*input.desc, counts);
}

}  // namespace

RulesRows rules() {
    return {{.name = "QUANTIZED_LINEAR_CONVOLUTION",
             .validate = validate_convolution,
             .rules = explained(),
             .sizes = convolution_sizes,
             .operations = convolution_operations,
             .bytes_read = convolution_bytes}};
}

}  // namespace dmlconform::operators::quantized_linear_convolution_rules
