// Rules of operators that copy windows, slices, blocks or repetitions of their input. What comments say about DirectML
// 1.15.4 was measured on it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"
#include "engine/operators/size_formula.h"

namespace dmlconform::operators::movement_rules {
namespace {

using WideSizes = std::vector<std::uint64_t>;

const core::TensorDesc& tensor_of(const Descriptor& descriptor, std::string_view field) {
    return *descriptor.tensor(field);
}

WideSizes wide(const core::Dimensions& sizes) {
    return {sizes.begin(), sizes.end()};
}

/// Only the elements that the strides select.
double slice_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    return std::min(element_bytes(*input.desc), element_bytes(tensor_of(descriptor, "OutputTensor")));
}

// ---- SLICE and SLICE_GRAD ----------------------------------------------------------------------------------------

ExplainedRules slice_rules() {
    return {{"windowSize", "Each of Sizes is at least 1."},
            {"stride", "Each of Strides is from 1 to 2147483647."},
            {"windowInBounds",
             "All elements taken are inside the input: Offsets[d] + (Sizes[d] - 1) * Strides[d] < InputTensor[d]."}};
}

Verdict check_slice(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& input = tensor_of(descriptor, "InputTensor").sizes;
    for (std::size_t d = 0; d < input.size(); ++d) {
        const std::uint64_t offset = descriptor.uints("Offsets")[d];
        const std::uint64_t size = descriptor.uints("Sizes")[d];
        const std::uint64_t stride = descriptor.uints("Strides")[d];
        if (size == 0) {
            return broken_rule(descriptor, "windowSize", fmt::format("Sizes[{}] is 0; it must be at least 1", d));
        }
        // Measured on DirectML 1.15.4: applies even if the size is 1, where the stride is not used.
        if (stride == 0 || stride > std::numeric_limits<std::int32_t>::max()) {
            return broken_rule(descriptor, "stride",
                               fmt::format("Strides[{}] is {}; it must be from 1 to 2147483647", d, stride));
        }
        const std::uint64_t last = offset + (size - 1) * stride;
        if (last >= input[d]) {
            return broken_rule(
                descriptor, "windowInBounds",
                fmt::format("Offsets[{0}] + (Sizes[{0}] - 1) * Strides[{0}] is {1} + {2} * {3} = {4}, but the "
                            "input has {5} elements along that dimension",
                            d, offset, size - 1, stride, last, input[d]));
        }
    }
    return {};
}

WideSizes slice_sizes(const Descriptor& descriptor) {
    return wide(descriptor.uints("Sizes"));
}

ExplainedRules slice_grad_rules() {
    return {{"windowSize", "Each of InputWindowSizes is at least 1."},
            {"windowInBounds",
             "The window is inside the output: InputWindowOffsets[d] + InputWindowSizes[d] <= "
             "OutputGradientTensor[d]."},
            {"windowStride", "No stride is 0. A negative one starts at the end of the window."},
            {"inputSize",
             "InputGradientTensor has at most as many elements along each dimension as the strides select.",
             {"InputGradientTensor[d] <= floor((InputWindowSizes[d] - 1) / |InputWindowStrides[d]|) + 1"}}};
}

Verdict check_slice_grad(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& input = tensor_of(descriptor, "InputGradientTensor").sizes;
    const core::Dimensions& output = tensor_of(descriptor, "OutputGradientTensor").sizes;
    for (std::size_t d = 0; d < input.size(); ++d) {
        const std::uint64_t offset = descriptor.uints("InputWindowOffsets")[d];
        const std::uint64_t size = descriptor.uints("InputWindowSizes")[d];
        const std::int64_t stride = descriptor.get<std::vector<std::int32_t>>("InputWindowStrides")[d];
        if (size == 0) {
            return broken_rule(descriptor, "windowSize",
                               fmt::format("InputWindowSizes[{}] is 0; it must be at least 1", d));
        }
        if (offset + size > output[d]) {
            return broken_rule(
                descriptor, "windowInBounds",
                fmt::format("InputWindowOffsets[{0}] + InputWindowSizes[{0}] is {1} + {2} = {3}, but the "
                            "output has {4} elements along that dimension",
                            d, offset, size, offset + size, output[d]));
        }
        if (stride == 0) {
            return broken_rule(descriptor, "windowStride", fmt::format("InputWindowStrides[{}] is 0", d));
        }
        const std::uint64_t most = 1 + (size - 1) / static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
        if (input[d] > most) {
            return broken_rule(
                descriptor, "inputSize",
                fmt::format("InputGradientTensor has {} elements along dimension {}; a window of {} with "
                            "stride {} has {}",
                            input[d], d, size, stride, most));
        }
    }
    return {};
}

// ---- SPLIT and JOIN ----------------------------------------------------------------------------------------------

/// Requires at least one part, and parts that agree in all dimensions except the axis.
Verdict check_parts(const Descriptor& descriptor, std::string_view field, const core::Dimensions* whole) {
    const auto& parts = descriptor.get<TensorDescArray>(field).items;
    const std::uint32_t axis = descriptor.uint("Axis");
    if (parts.empty()) {
        return broken_rule(descriptor, "tensorCount", fmt::format("{} has no tensors; it must have one", field));
    }
    const core::Dimensions& wanted = whole == nullptr ? parts.front().sizes : *whole;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (std::size_t d = 0; d < wanted.size(); ++d) {
            if (d != axis && parts[i].sizes[d] != wanted[d]) {
                return broken_rule(
                    descriptor, "sizes",
                    fmt::format("{}[{}] has sizes {}; along all dimensions but {} they must be those of {}", field, i,
                                core::to_string(parts[i].sizes), axis, core::to_string(wanted)));
            }
        }
    }
    return {};
}

std::uint64_t sum_along_axis(const Descriptor& descriptor, std::string_view field) {
    std::uint64_t sum = 0;
    for (const core::TensorDesc& part : descriptor.get<TensorDescArray>(field).items) {
        sum += part.sizes[descriptor.uint("Axis")];
    }
    return sum;
}

ExplainedRules split_rules() {
    return {{"tensorCount", "OutputTensors has at least one tensor."},
            {"sizes", "All outputs have the sizes of InputTensor, except along Axis."},
            {"sizesAlongAxis",
             "Together, the outputs have as many elements along Axis as the input.",
             {"InputTensor[Axis] = sum of OutputTensors[i][Axis]"}}};
}

Verdict check_split(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& input = tensor_of(descriptor, "InputTensor").sizes;
    if (auto rejection = check_parts(descriptor, "OutputTensors", &input)) {
        return rejection;
    }
    const std::uint64_t sum = sum_along_axis(descriptor, "OutputTensors");
    const std::uint32_t axis = descriptor.uint("Axis");
    if (sum != input[axis]) {
        return broken_rule(descriptor, "sizesAlongAxis",
                           fmt::format("the outputs together have {} elements along axis {}, but the input has {}", sum,
                                       axis, input[axis]));
    }
    return {};
}

ExplainedRules join_rules() {
    return {{"tensorCount", "InputTensors has at least one tensor."},
            {"sizes", "All inputs have the same sizes, except along Axis."}};
}

std::vector<std::string> join_formulas() {
    return {"OutputTensor[Axis] = sum of InputTensors[i][Axis]",
            "OutputTensor[d] = InputTensors[0][d] for all other dimensions d"};
}

Verdict check_join(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    return check_parts(descriptor, "InputTensors", nullptr);
}

WideSizes join_sizes(const Descriptor& descriptor) {
    WideSizes sizes = wide(descriptor.get<TensorDescArray>("InputTensors").items.front().sizes);
    sizes[descriptor.uint("Axis")] = sum_along_axis(descriptor, "InputTensors");
    return sizes;
}

// ---- PADDING and TILE --------------------------------------------------------------------------------------------

ExplainedRules padding_rules() {
    return {{"paddingMode", "PaddingMode is not SYMMETRIC before feature level 3.0, and not WRAP before 6.4."}};
}

std::vector<std::string> padding_formulas() {
    return {"OutputTensor[d] = InputTensor[d] + StartPadding[d] + EndPadding[d]"};
}

/// DirectML's version history lists the feature level of each mode.
Verdict check_padding(const Descriptor& descriptor, core::FeatureLevel level) {
    const Field& field = *descriptor.schema->find_field("PaddingMode");
    const auto mode = enumerator<PaddingMode>(descriptor, "PaddingMode");
    const core::FeatureLevel from = mode == PaddingMode::symmetric ? core::FeatureLevel{3, 0}
                                    : mode == PaddingMode::wrap    ? core::FeatureLevel{6, 4}
                                                                   : core::FeatureLevel{1, 0};
    if (level < from) {
        return broken_rule(
            descriptor, "paddingMode",
            fmt::format("PaddingMode {} exists from feature level {} on; this is {}",
                        to_string(field, descriptor.value("PaddingMode")), to_string(from), to_string(level)));
    }
    return {};
}

WideSizes padding_sizes(const Descriptor& descriptor) {
    WideSizes sizes = wide(tensor_of(descriptor, "InputTensor").sizes);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        sizes[d] += std::uint64_t{descriptor.uints("StartPadding")[d]} + descriptor.uints("EndPadding")[d];
    }
    return sizes;
}

ExplainedRules tile_rules() {
    return {{"repeats", "Each of Repeats is at least 1."}};
}

Verdict check_tile(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const auto& repeats = descriptor.uints("Repeats");
    for (std::size_t d = 0; d < repeats.size(); ++d) {
        if (repeats[d] == 0) {
            return broken_rule(descriptor, "repeats", fmt::format("Repeats[{}] is 0; it must be at least 1", d));
        }
    }
    return {};
}

WideSizes tile_sizes(const Descriptor& descriptor) {
    WideSizes sizes = wide(tensor_of(descriptor, "InputTensor").sizes);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        sizes[d] *= descriptor.uints("Repeats")[d];
    }
    return sizes;
}

// ---- blocks and scales -------------------------------------------------------------------------------------------

ExplainedRules space_rules() {
    return {{"blockSize", "BlockSize is at least 1 and divides the input's height and width."}};
}

ExplainedRules depth_rules() {
    return {{"blockSize", "BlockSize is at least 1, and its square divides the input's number of channels."}};
}

/// The output of SPACE_TO_DEPTH. Cannot overflow: C * H * W is at most the number of elements, and the block divides H
/// and W.
template <class Number>
std::vector<Number> space_to_depth(const std::vector<Number>& input, const Number& block) {
    return {input[0], input[1] * block * block, input[2] / block, input[3] / block};
}

template <class Number>
std::vector<Number> depth_to_space(const std::vector<Number>& input, const Number& block) {
    return {input[0], input[1] / (block * block), input[2] * block, input[3] * block};
}

std::vector<SizeFormula> input_symbols() {
    return {SizeFormula("InputTensor[0]"), SizeFormula("InputTensor[1]"), SizeFormula("InputTensor[2]"),
            SizeFormula("InputTensor[3]")};
}

Verdict check_space_to_depth(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& input = tensor_of(descriptor, "InputTensor").sizes;
    const std::uint32_t block = descriptor.uint("BlockSize");
    if (block == 0 || input[2] % block != 0 || input[3] % block != 0) {
        return broken_rule(descriptor, "blockSize",
                           fmt::format("BlockSize is {}; it must divide the input's height and width, {} and {}", block,
                                       input[2], input[3]));
    }
    return {};
}

WideSizes space_to_depth_sizes(const Descriptor& descriptor) {
    const WideSizes input = wide(tensor_of(descriptor, "InputTensor").sizes);
    return space_to_depth<std::uint64_t>(input, descriptor.uint("BlockSize"));
}

Verdict check_depth_to_space(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const std::uint64_t channels = tensor_of(descriptor, "InputTensor").sizes[1];
    const std::uint64_t block = descriptor.uint("BlockSize");
    // The square is computed in 64 bits: in 32 bits it can wrap to 0.
    if (block == 0 || channels % (block * block) != 0) {
        return broken_rule(
            descriptor, "blockSize",
            fmt::format("BlockSize is {}; its square must divide the input's {} channels", block, channels));
    }
    return {};
}

WideSizes depth_to_space_sizes(const Descriptor& descriptor) {
    const WideSizes input = wide(tensor_of(descriptor, "InputTensor").sizes);
    return depth_to_space<std::uint64_t>(input, descriptor.uint("BlockSize"));
}

ExplainedRules upsample_rules() {
    return {{"scaleSize", "Width and height of ScaleSize are at least 1."}};
}

std::vector<std::string> upsample_formulas() {
    return {"OutputTensor[-2] = InputTensor[-2] * ScaleSize.Height",
            "OutputTensor[-1] = InputTensor[-1] * ScaleSize.Width", "OutputTensor[d] = InputTensor[d] for all others"};
}

Verdict check_upsample(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const auto& scale = descriptor.get<Size2D>("ScaleSize");
    if (scale.width == 0 || scale.height == 0) {
        return broken_rule(descriptor, "scaleSize",
                           fmt::format("ScaleSize is {} by {}; both must be at least 1", scale.width, scale.height));
    }
    return {};
}

WideSizes upsample_sizes(const Descriptor& descriptor) {
    WideSizes sizes = wide(tensor_of(descriptor, "InputTensor").sizes);
    const auto& scale = descriptor.get<Size2D>("ScaleSize");
    sizes[sizes.size() - 2] *= scale.height;
    sizes[sizes.size() - 1] *= scale.width;
    return sizes;
}

/// The nearest element is only moved.
double upsample_operations(const Descriptor& descriptor) {
    const bool linear = enumerator<InterpolationMode>(descriptor, "InterpolationMode") == InterpolationMode::linear;
    return linear ? static_cast<double>(*core::element_count(tensor_of(descriptor, "OutputTensor").sizes)) : 0;
}

}  // namespace

RulesRows rules() {
    RulesRows rows{
        {.name = "SLICE",
         .validate = check_slice,
         .rules = slice_rules(),
         .output_sizes = slice_sizes,
         .output_formulas = {"OutputTensor[d] = Sizes[d]"},
         .operations = no_operations,
         .bytes_read = slice_bytes},
        {.name = "SLICE_GRAD", .validate = check_slice_grad, .rules = slice_grad_rules(), .operations = no_operations},
        {.name = "SPLIT", .validate = check_split, .rules = split_rules(), .operations = no_operations},
        {.name = "JOIN",
         .validate = check_join,
         .rules = join_rules(),
         .output_sizes = join_sizes,
         .output_formulas = join_formulas(),
         .operations = no_operations},
        {.name = "TILE",
         .validate = check_tile,
         .rules = tile_rules(),
         .output_sizes = tile_sizes,
         .output_formulas = {"OutputTensor[d] = InputTensor[d] * Repeats[d]"},
         .operations = no_operations},
        {.name = "UPSAMPLE_2D",
         .validate = check_upsample,
         .rules = upsample_rules(),
         .output_sizes = upsample_sizes,
         .output_formulas = upsample_formulas(),
         .operations = upsample_operations},
        {.name = "DIAGONAL_MATRIX", .operations = no_operations},
        {.name = "DIAGONAL_MATRIX1", .operations = no_operations},
        {.name = "FILL_VALUE_CONSTANT", .operations = no_operations},
    };
    for (const std::string_view name : {"PADDING", "PADDING1"}) {
        rows.push_back({.name = name,
                        .validate = check_padding,
                        .rules = padding_rules(),
                        .output_sizes = padding_sizes,
                        .output_formulas = padding_formulas(),
                        .operations = no_operations});
    }
    for (const std::string_view name : {"SPACE_TO_DEPTH", "SPACE_TO_DEPTH1"}) {
        rows.push_back(
            {.name = name,
             .validate = check_space_to_depth,
             .rules = space_rules(),
             .output_sizes = space_to_depth_sizes,
             .output_formulas = {sizes_line("OutputTensor", space_to_depth(input_symbols(), SizeFormula("BlockSize")))},
             .operations = no_operations});
    }
    for (const std::string_view name : {"DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"}) {
        rows.push_back(
            {.name = name,
             .validate = check_depth_to_space,
             .rules = depth_rules(),
             .output_sizes = depth_to_space_sizes,
             .output_formulas = {sizes_line("OutputTensor", depth_to_space(input_symbols(), SizeFormula("BlockSize")))},
             .operations = no_operations});
    }
    return rows;
}

}  // namespace dmlconform::operators::movement_rules
