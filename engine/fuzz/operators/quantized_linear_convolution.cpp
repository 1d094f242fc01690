// QUANTIZED_LINEAR_CONVOLUTION: groups, strides, dilations, paddings, and every form of the scales and zero points.
#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;
using Uints = std::vector<std::uint32_t>;

const Uints* uints(Descriptor& descriptor, const char* field) {
    return std::get_if<Uints>(&field_of(descriptor, field));
}

/// Parameters with one element for each output channel are resized if that number changes.
void resize_parameters(Descriptor& descriptor, std::uint32_t channels) {
    for (const char* name : {"FilterScaleTensor", "FilterZeroPointTensor", "BiasTensor"}) {
        auto* desc = std::get_if<core::TensorDesc>(&field_of(descriptor, name));
        if (desc == nullptr || desc->sizes.size() < 2 || desc->sizes[1] == channels ||
            (desc->sizes[1] == 1 && std::string_view(name) != "BiasTensor")) {
            continue;
        }
        core::Dimensions sizes = desc->sizes;
        sizes[1] = channels;
        set_sizes(*desc, sizes);
    }
}

void repair(Descriptor& descriptor) {
    const auto* input = std::get_if<core::TensorDesc>(&field_of(descriptor, "InputTensor"));
    const auto* filter = std::get_if<core::TensorDesc>(&field_of(descriptor, "FilterTensor"));
    auto* output = std::get_if<core::TensorDesc>(&field_of(descriptor, "OutputTensor"));
    if (input == nullptr || filter == nullptr || output == nullptr || input->sizes.size() < 3 ||
        filter->sizes.size() != input->sizes.size()) {
        return;
    }
    core::Dimensions sizes{input->sizes[0], filter->sizes[0]};
    const std::size_t spatial = input->sizes.size() - 2;
    for (std::size_t i = 0; i < spatial; ++i) {
        // A tensor of three dimensions has only a width, which is the second entry of the attributes.
        const std::size_t a = 2 - spatial + i;
        std::array<std::uint64_t, 4> values{};
        std::size_t at = 0;
        for (const char* name : {"Strides", "Dilations", "StartPadding", "EndPadding"}) {
            const Uints* list = spatial <= 2 ? uints(descriptor, name) : nullptr;
            if (list == nullptr || list->size() <= a) {
                return;
            }
            values[at++] = (*list)[a];
        }
        const std::uint64_t padded = input->sizes[2 + i] + values[2] + values[3];
        const std::uint64_t reach = (filter->sizes[2 + i] - std::uint64_t{1}) * values[1] + 1;
        const std::uint64_t steps = values[0] == 0 || reach > padded ? 1 : (padded - reach) / values[0] + 1;
        sizes.push_back(static_cast<std::uint32_t>(steps));
    }
    if (output->sizes != sizes) {
        set_sizes(*output, sizes);
    }
    resize_parameters(descriptor, filter->sizes[0]);
}

/// One element in any legal number of dimensions, or one for each channel.
core::TensorDesc random_parameter(Random& random, const operators::OperatorSchema& schema, const char* field,
                                  core::DataType type, std::uint32_t channels, core::FeatureLevel level) {
    core::Dimensions sizes(random_rank(random, schema, field, level), 1);
    if (sizes.size() > 1) {
        sizes[1] = channels;
    }
    return random_layout(random, type, std::move(sizes), operators::FieldKind::input);
}

void add_parameters(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    const operators::OperatorSchema& schema = *descriptor.schema;
    const core::Dimensions filter = descriptor.tensor("FilterTensor")->sizes;
    for (const char* of : {"Input", "Filter", "Output"}) {
        const bool per_channel = std::string_view(of) == "Filter" && random.chance(1, 2);
        const std::uint32_t channels = per_channel ? filter[0] : 1;
        const std::string scale = std::string(of) + "ScaleTensor";
        const std::string zero_point = std::string(of) + "ZeroPointTensor";
        field_of(descriptor, scale) =
            random_parameter(random, schema, scale.c_str(), core::DataType::float32, channels, level);
        if (random.chance(2, 3)) {
            const core::DataType type = descriptor.tensor(std::string(of) + "Tensor")->data_type;
            // Mostly the scale's sizes: others are legal, but DirectML rejects them, so nothing is computed.
            field_of(descriptor, zero_point) =
                random.chance(7, 8)
                    ? random_layout(random, type, descriptor.tensor(scale)->sizes, operators::FieldKind::input)
                    : random_parameter(random, schema, zero_point.c_str(), type, random.chance(1, 2) ? channels : 1,
                                       level);
        }
    }
    if (random.chance(1, 2)) {
        core::Dimensions sizes(filter.size(), 1);
        sizes[1] = filter[0];
        field_of(descriptor, "BiasTensor") =
            random_layout(random, core::DataType::int32, std::move(sizes), operators::FieldKind::input);
    }
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = blank_descriptor(schema);
    const std::uint32_t rank = random_rank(random, schema, "InputTensor", level);
    const std::uint32_t groups = random.chance(1, 2) ? 1 : random.pick(1, 4);
    const std::uint32_t group_channels = random.pick(1, 5);
    core::Dimensions input{random.pick(1, 2), groups * group_channels};
    core::Dimensions filter{groups * random.pick(1, 4), group_channels};
    std::array<Uints, 4> attributes{Uints(2, 1), Uints(2, 1), Uints(2, 0), Uints(2, 0)};
    for (std::uint32_t i = 4 - rank; i < 2; ++i) {
        attributes[0][i] = random.chance(1, 2) ? 1 : random.pick(2, 3);
        attributes[1][i] = random.chance(2, 3) ? 1 : random.pick(2, 3);
        attributes[2][i] = random.chance(1, 2) ? 0 : random.pick(1, 3);
        attributes[3][i] = random.chance(1, 2) ? 0 : random.pick(1, 3);
        filter.push_back(random.pick(1, 4));
        const std::uint32_t reach = (filter.back() - 1) * attributes[1][i] + 1;
        const std::uint32_t padding = attributes[2][i] + attributes[3][i];
        input.push_back(
            std::max(reach > padding ? reach - padding : 1, random.chance(1, 16) ? 40 : random.pick(1, 12)));
    }
    const core::DataType filter_type = random_type(random, schema, "FilterTensor", level);
    field_of(descriptor, "InputTensor") =
        random_layout(random, random_type(random, schema, "InputTensor", level), input, operators::FieldKind::input);
    field_of(descriptor, "FilterTensor") = random_layout(random, filter_type, filter, operators::FieldKind::input);
    const core::DataType output_type = random_type(random, schema, "OutputTensor", level);
    field_of(descriptor, "OutputTensor") = core::TensorDesc::packed(output_type, core::Dimensions(rank, 1));
    std::size_t at = 0;
    for (const char* name : {"Strides", "Dilations", "StartPadding", "EndPadding"}) {
        field_of(descriptor, name) = attributes[at++];
    }
    field_of(descriptor, "GroupCount") = groups;
    add_parameters(random, descriptor, level);
    repair(descriptor);
    field_of(descriptor, "OutputTensor") =
        random_layout(random, output_type, descriptor.tensor("OutputTensor")->sizes, operators::FieldKind::output);
    set_counts(descriptor);
    return descriptor;
}

ElementKind element_kind(const Descriptor& /*descriptor*/, std::string_view input) {
    if (input == "OutputScaleTensor") {
        return ElementKind::divisor;
    }
    if (input.ends_with("ScaleTensor")) {
        return ElementKind::scale;
    }
    return input == "BiasTensor" ? ElementKind::small : ElementKind::bits;
}

}  // namespace

const OperatorFuzz quantized_linear_convolution_fuzz{"QUANTIZED_LINEAR_CONVOLUTION", make, element_kind, repair};

}  // namespace dmlconform::fuzz
