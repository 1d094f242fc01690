// The table of other rules, and what they require. All of them were found on DirectML 1.15.4.
#include "engine/expectations/other_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "engine/operators/rules.h"

namespace dmlconform::expectations {
namespace {

using operators::Descriptor;
using Sizes = std::vector<std::uint64_t>;

constexpr std::array<std::string_view, 2> attentions{"MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"};
constexpr std::array<std::string_view, 1> convolution{"CONVOLUTION"};
constexpr std::array<std::string_view, 2> integer_convolutions{"CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION"};
constexpr std::array<std::string_view, 1> gather{"GATHER"};
constexpr std::array<std::string_view, 1> gather_nd1{"GATHER_ND1"};
constexpr std::array<std::string_view, 1> max_pooling_grad{"MAX_POOLING_GRAD"};
constexpr std::array<std::string_view, 1> scatter_nd{"SCATTER_ND"};
constexpr std::array<std::string_view, 2> foldings{"FOLD", "UNFOLD"};
constexpr std::array<std::string_view, 2> quantizations{"QUANTIZE", "DEQUANTIZE"};
constexpr std::array<std::string_view, 1> slice_grad{"SLICE_GRAD"};
constexpr std::array<std::string_view, 1> quantized_average{"QUANTIZED_LINEAR_AVERAGE_POOLING"};

Sizes sizes_of(const Descriptor& descriptor, std::string_view tensor) {
    const core::Dimensions& sizes = descriptor.sizes(tensor);
    return {sizes.begin(), sizes.end()};
}

/// The last sizes. Empty if there are not as many.
Sizes last_of(const Sizes& sizes, std::uint32_t count) {
    return count > sizes.size() ? Sizes() : Sizes(sizes.end() - static_cast<std::ptrdiff_t>(count), sizes.end());
}

/// Leading sizes of 1 make up for dimensions that are missing.
bool is_with_leading_ones(Sizes sizes, const Sizes& wanted) {
    sizes.insert(sizes.begin(), wanted.size() - std::min(wanted.size(), sizes.size()), 1);
    return sizes == wanted;
}

/// The sizes of what tuples of indices select: those of the indices without the last one, and those of the input behind
/// the batches and what a tuple indexes. Empty if a tuple has too many indices.
Sizes picked_sizes(const Descriptor& descriptor, std::uint32_t batches) {
    const Sizes input = last_of(sizes_of(descriptor, "InputTensor"), descriptor.uint("InputDimensionCount"));
    Sizes picked = last_of(sizes_of(descriptor, "IndicesTensor"), descriptor.uint("IndicesDimensionCount"));
    if (picked.size() <= batches || input.size() <= batches || picked.back() > input.size() - batches) {
        return {};
    }
    const auto indexed = static_cast<std::ptrdiff_t>(batches + picked.back());
    picked.pop_back();
    picked.insert(picked.end(), input.begin() + indexed, input.end());
    return picked;
}

/// Nobody compares the batches of the input with those of the indices.
bool has_batches_of_indices(const Descriptor& descriptor) {
    const Sizes picked = picked_sizes(descriptor, descriptor.uint("BatchDimensionCount"));
    return !picked.empty() && is_with_leading_ones(picked, sizes_of(descriptor, "OutputTensor"));
}

/// The last sizes of the output are those of what is gathered. Those before them, of either, are not compared.
bool has_gathered_sizes(const Descriptor& descriptor) {
    const Sizes input = sizes_of(descriptor, "InputTensor");
    const Sizes output = sizes_of(descriptor, "OutputTensor");
    const Sizes indices = last_of(sizes_of(descriptor, "IndicesTensor"), descriptor.uint("IndexDimensions"));
    const std::uint32_t axis = descriptor.uint("Axis");
    if (axis >= input.size()) {
        return false;
    }
    Sizes gathered(input.begin(), input.begin() + axis);
    gathered.insert(gathered.end(), indices.begin(), indices.end());
    gathered.insert(gathered.end(), input.begin() + axis + 1, input.end());
    const std::size_t compared = std::min(gathered.size(), output.size());
    return std::equal(gathered.end() - static_cast<std::ptrdiff_t>(compared), gathered.end(),
                      output.end() - static_cast<std::ptrdiff_t>(compared));
}

/// The window lies in the output, and may have no element. So does a position for each gradient, as if all strides were
/// positive.
bool has_gradients_in_output(const Descriptor& descriptor) {
    const Sizes gradient = sizes_of(descriptor, "InputGradientTensor");
    const Sizes output = sizes_of(descriptor, "OutputGradientTensor");
    const auto& offsets = descriptor.uints("InputWindowOffsets");
    const auto& windows = descriptor.uints("InputWindowSizes");
    const auto& strides = descriptor.get<std::vector<std::int32_t>>("InputWindowStrides");
    const std::size_t count = output.size();
    bool fits =
        gradient.size() == count && offsets.size() == count && windows.size() == count && strides.size() == count;
    for (std::size_t d = 0; fits && d < count; ++d) {
        const std::uint64_t offset = offsets[d];
        const auto step = static_cast<std::uint64_t>(std::abs(std::int64_t{strides[d]}));
        fits = step != 0 && gradient[d] != 0 && offset + windows[d] <= output[d] &&
               offset + (gradient[d] - 1) * step < output[d];
    }
    return fits;
}

/// Any number of leading ones does.
bool has_updates_of_any_rank(const Descriptor& descriptor) {
    const Sizes updates = sizes_of(descriptor, "UpdatesTensor");
    const Sizes input = last_of(sizes_of(descriptor, "InputTensor"), descriptor.uint("InputDimensionCount"));
    const Sizes indices = last_of(sizes_of(descriptor, "IndicesTensor"), descriptor.uint("IndicesDimensionCount"));
    // A tuple may index the whole input, and then a single element is picked for each.
    return !indices.empty() && !input.empty() && indices.back() <= input.size() &&
           is_with_leading_ones(picked_sizes(descriptor, 0), updates);
}

/// Padded sizes wrap at 2^32, and a window that does not fit counts as one.
bool has_pooled_sizes_in_32_bits(const Descriptor& descriptor) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    const core::Dimensions& gradient = descriptor.sizes("InputGradientTensor");
    const auto& strides = descriptor.uints("Strides");
    bool fits = input.size() == gradient.size() && input.size() == strides.size() + 2 &&
                std::equal(input.begin(), input.begin() + 2, gradient.begin());
    for (std::size_t i = 0; fits && i < strides.size(); ++i) {
        const std::uint32_t padded =
            input[i + 2] + descriptor.uints("StartPadding")[i] + descriptor.uints("EndPadding")[i];
        const std::uint32_t window = (descriptor.uints("WindowSize")[i] - 1) * descriptor.uints("Dilations")[i] + 1;
        fits = strides[i] != 0 && gradient[i + 2] == (padded < window ? 1 : (padded - window) / strides[i] + 1);
    }
    return fits;
}

/// The image that is folded or unfolded.
Sizes image_of(const Descriptor& descriptor) {
    return sizes_of(descriptor, descriptor.schema->short_name() == "FOLD" ? "OutputTensor" : "InputTensor");
}

/// How many positions a window of FOLD or UNFOLD has along a spatial dimension. Empty if it does not fit.
std::optional<std::uint64_t> window_positions(const Descriptor& descriptor, const Sizes& image, std::size_t i) {
    const std::uint64_t padded = image[i + 2] + descriptor.uints("StartPadding")[i] + descriptor.uints("EndPadding")[i];
    const std::uint64_t size = descriptor.uints("WindowSizes")[i];
    const std::uint64_t stride = descriptor.uints("Strides")[i];
    const std::uint64_t window = (size - 1) * descriptor.uints("Dilations")[i] + 1;
    return size == 0 || stride == 0 || window > padded ? std::nullopt : std::optional((padded - window) / stride + 1);
}

/// A window with a dilation of 0 spans one element. The last spatial dimension may lack a window: it has one of 1.
bool has_blocks_of_zero_dilations(const Descriptor& descriptor) {
    const bool folds = descriptor.schema->short_name() == "FOLD";
    const Sizes image = image_of(descriptor);
    const auto& strides = descriptor.uints("Strides");
    if (image.size() < strides.size() + 2) {
        return false;
    }
    Sizes unfolded{image[0], image[1], 1};
    for (std::size_t i = 0; i < strides.size(); ++i) {
        const auto positions = window_positions(descriptor, image, i);
        if (!positions) {
            return false;
        }
        unfolded[1] *= descriptor.uints("WindowSizes")[i];
        unfolded[2] *= *positions;
    }
    return sizes_of(descriptor, folds ? "InputTensor" : "OutputTensor") == unfolded;
}

/// There is one spatial dimension less than windows, of which there are up to six, and the first windows fit.
bool has_a_window_too_many(const Descriptor& descriptor) {
    const Sizes image = image_of(descriptor);
    const std::size_t windows = descriptor.uints("Strides").size();
    bool fits = image.size() >= 3 && image.size() <= 7 && image.size() == windows + 1;
    for (std::size_t i = 0; fits && i + 2 < image.size(); ++i) {
        fits = window_positions(descriptor, image, i).has_value();
    }
    return fits;
}

/// Batches and channels are compared. The output is larger than its padding, counted from the last dimension.
bool has_room_for_output_padding(const Descriptor& descriptor) {
    const Sizes filter = sizes_of(descriptor, "FilterTensor");
    const Sizes output = sizes_of(descriptor, "OutputTensor");
    const bool is_forward = descriptor.uint("Direction") == 0;
    const auto& padding = descriptor.uints("OutputPadding");
    if (output.size() < 3 || filter.size() < 2) {
        return false;
    }
    const std::size_t count = std::min(padding.size(), output.size() - 2);
    bool fits = output[0] == descriptor.sizes("InputTensor")[0] &&
                output[1] == (is_forward ? filter[0] : filter[1] * descriptor.uint("GroupCount"));
    for (std::size_t i = 1; i <= count; ++i) {
        fits = fits && output[output.size() - i] > padding[padding.size() - i];
    }
    return fits;
}

/// The first two sizes are compared, and the others are not. Parameters have one element, or one for each channel.
bool has_channels_of_any_rank(const Descriptor& descriptor) {
    const Sizes input = sizes_of(descriptor, "InputTensor");
    const Sizes filter = sizes_of(descriptor, "FilterTensor");
    const Sizes output = sizes_of(descriptor, "OutputTensor");
    const std::uint64_t groups = descriptor.uint("GroupCount");
    if (std::min({input.size(), filter.size(), output.size()}) < 2 || groups == 0) {
        return false;
    }
    bool fits =
        output[0] == input[0] && output[1] == filter[0] && filter[1] * groups == input[1] && filter[0] % groups == 0;
    for (const char* name : {"FilterScaleTensor", "FilterZeroPointTensor", "BiasTensor"}) {
        const auto* const field = descriptor.schema->find_field(name);
        const core::TensorDesc* const desc = field == nullptr ? nullptr : descriptor.tensor(name);
        const auto count = desc == nullptr ? 1 : core::element_count(desc->sizes);
        fits = fits && (count == 1U || (count == output[1] && desc->sizes.size() > 1 && desc->sizes[1] == output[1]));
    }
    return fits;
}

/// The last size of queries is rounded down to a multiple of the number of heads. Everything else is as it should be.
bool has_whole_heads(const Descriptor& descriptor) {
    Descriptor rounded = descriptor;
    const operators::OperatorSchema& schema = *descriptor.schema;
    const operators::Field* const field = schema.find_field("QueryTensor");
    auto* const query =
        std::get_if<core::TensorDesc>(&rounded.values[static_cast<std::size_t>(field - schema.fields.data())]);
    const std::uint32_t heads =
        descriptor.uint(schema.find_field("HeadCount") != nullptr ? "HeadCount" : "QueryHeadCount");
    if (query == nullptr || heads == 0 || query->sizes.back() < heads) {
        return false;
    }
    query->sizes.back() -= query->sizes.back() % heads;
    *query = core::TensorDesc::packed(query->data_type, query->sizes);
    return !operators::validate(rounded, core::highest_feature_level);
}

/// The first tensor of parameters has more dimensions than the input. The sizes of those that both have, from the first
/// one on, divide the input's.
bool has_scales_of_more_dimensions(const Descriptor& descriptor) {
    const Sizes input = sizes_of(descriptor, "InputTensor");
    const auto* const parameters = std::get_if<operators::TensorDescArray>(&descriptor.value("QuantizationTensors"));
    if (parameters == nullptr || parameters->items.empty()) {
        return false;
    }
    const core::Dimensions& scale = parameters->items[0].sizes;
    bool divides = scale.size() > input.size();
    for (std::size_t d = 0; divides && d < input.size(); ++d) {
        divides = scale[d] != 0 && input[d] % scale[d] == 0;
    }
    return divides;
}

/// The descriptor is legal if its parameters have one element each. A scale has the sizes of its zero point, and the
/// output has the input's type.
bool has_parameters_of_any_size(const Descriptor& descriptor) {
    Descriptor single = descriptor;
    bool fits = descriptor.tensor("InputTensor")->data_type == descriptor.tensor("OutputTensor")->data_type;
    for (const char* side : {"Input", "Output"}) {
        const core::TensorDesc& scale = *descriptor.tensor(fmt::format("{}ScaleTensor", side));
        for (std::size_t i = 0; i < single.values.size(); ++i) {
            const std::string& name = descriptor.schema->fields[i].name;
            auto* const desc = std::get_if<core::TensorDesc>(&single.values[i]);
            if (desc != nullptr &&
                (name == fmt::format("{}ScaleTensor", side) || name == fmt::format("{}ZeroPointTensor", side))) {
                fits = fits && desc->sizes == scale.sizes && core::element_count(desc->sizes) != 0U;
                *desc = core::TensorDesc::packed(desc->data_type, core::Dimensions(desc->sizes.size(), 1));
            }
        }
    }
    return fits && !operators::validate(single, core::highest_feature_level);
}

/// Dimensions of more than one element have strides that are not 0 and not equal, and there are no more elements than
/// addresses from the first to the last.
bool has_room_for_its_elements(const core::TensorDesc& desc) {
    const auto strides = core::effective_strides(desc);
    std::vector<std::uint64_t> used;
    std::uint64_t addresses = 1;
    for (std::size_t d = 0; d < desc.sizes.size(); ++d) {
        if (desc.sizes[d] > 1) {
            used.push_back(strides[d]);
            addresses += strides[d] * (desc.sizes[d] - 1);
        }
    }
    std::ranges::sort(used);
    return (used.empty() || used.front() != 0) && std::ranges::adjacent_find(used) == used.end() &&
           core::element_count(desc.sizes).value_or(~std::uint64_t{0}) <= addresses;
}

/// Convolutions do not check the spatial sizes of their outputs.
bool is_legal_but_for_output_sizes(const Descriptor& descriptor) {
    const auto broken = operators::validate(descriptor, core::highest_feature_level);
    if (broken && broken->rule == "CONVOLUTION.outputSizes") {
        return has_room_for_output_padding(descriptor);
    }
    const bool is_of_integers = broken && (broken->rule == "CONVOLUTION_INTEGER.outputSizes" ||
                                           broken->rule == "QUANTIZED_LINEAR_CONVOLUTION.outputSize");
    return !broken || (is_of_integers && has_channels_of_any_rank(descriptor));
}

/// The descriptor is legal if its outputs have no strides of their own.
bool has_distinct_output_strides(const Descriptor& descriptor) {
    Descriptor packed = descriptor;
    bool are_distinct = true;
    for (std::size_t i = 0; i < packed.values.size(); ++i) {
        auto* const desc = std::get_if<core::TensorDesc>(&packed.values[i]);
        if (desc != nullptr && descriptor.schema->fields[i].kind == operators::FieldKind::output) {
            are_distinct = are_distinct && has_room_for_its_elements(*desc);
            const std::uint32_t alignment = desc->base_offset_alignment;
            *desc = core::TensorDesc::packed(desc->data_type, desc->sizes);
            desc->base_offset_alignment = alignment;
        }
    }
    return are_distinct && is_legal_but_for_output_sizes(packed);
}

constexpr OtherRule all[] = {
    {"batchesOfIndices", gather_nd1, has_batches_of_indices},
    {"blocksOfZeroDilations", foldings, has_blocks_of_zero_dilations},
    {"channelsOfAnyRank", integer_convolutions, has_channels_of_any_rank},
    {"distinctOutputStrides", {}, has_distinct_output_strides},
    {"gatheredSizes", gather, has_gathered_sizes},
    {"gradientsInOutput", slice_grad, has_gradients_in_output},
    {"parametersOfAnySize", quantized_average, has_parameters_of_any_size},
    {"pooledSizesIn32Bits", max_pooling_grad, has_pooled_sizes_in_32_bits},
    {"roomForOutputPadding", convolution, has_room_for_output_padding},
    {"scalesOfMoreDimensions", quantizations, has_scales_of_more_dimensions},
    {"updatesOfAnyRank", scatter_nd, has_updates_of_any_rank},
    {"wholeHeads", attentions, has_whole_heads},
    {"windowTooMany", foldings, has_a_window_too_many},
};

/// What the functions above rely on.
bool is_complete(const Descriptor& descriptor) {
    return std::ranges::all_of(descriptor.schema->fields, [&](const operators::Field& field) {
        const auto* const desc = std::get_if<core::TensorDesc>(&descriptor.value(field.name));
        const bool is_there = !std::holds_alternative<operators::Null>(descriptor.value(field.name));
        return field.optional || (is_there && (desc == nullptr || !desc->sizes.empty()));
    });
}

}  // namespace

std::span<const OtherRule> other_rules() {
    return all;
}

const OtherRule* find_other_rule(const operators::OperatorSchema& schema, std::string_view name) {
    const auto* const found = std::ranges::find_if(all, [&](const OtherRule& rule) {
        return rule.name == name && (rule.operators.empty() ||
                                     std::ranges::find(rule.operators, schema.short_name()) != rule.operators.end());
    });
    return found == std::end(all) ? nullptr : found;
}

bool meets_other_rule(const operators::Descriptor& descriptor, std::string_view name) {
    const OtherRule* const rule = find_other_rule(*descriptor.schema, name);
    return rule != nullptr && descriptor.graph == nullptr && is_complete(descriptor) && rule->holds(descriptor);
}

}  // namespace dmlconform::expectations
