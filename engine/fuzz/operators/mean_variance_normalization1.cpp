// MEAN_VARIANCE_NORMALIZATION1: any set of axes, scale and bias of any sizes that can be broadcast, every activation.
#include <array>
#include <string>
#include <vector>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

void repair(Descriptor& descriptor) {
    const auto* input = std::get_if<core::TensorDesc>(&field_of(descriptor, "InputTensor"));
    auto* axes = std::get_if<std::vector<std::uint32_t>>(&field_of(descriptor, "Axes"));
    if (input == nullptr || axes == nullptr || input->sizes.empty()) {
        return;
    }
    for (std::uint32_t& axis : *axes) {
        axis = std::min<std::uint32_t>(axis, static_cast<std::uint32_t>(input->sizes.size()) - 1);
    }
    auto* output = std::get_if<core::TensorDesc>(&field_of(descriptor, "OutputTensor"));
    if (output != nullptr && output->sizes != input->sizes) {
        set_sizes(*output, input->sizes);
    }
}

operators::OperatorDesc random_activation(Random& random, const operators::OperatorSchema& schema,
                                          core::FeatureLevel level) {
    std::vector<std::string> names;
    for (const auto& [name, from] : schema.fusable) {
        if (from <= level) {
            names.push_back(name);
        }
    }
    Descriptor activation = blank_descriptor(*operators::find_operator(random.one_of(names)));
    for (std::size_t i = 0; i < activation.values.size(); ++i) {
        const operators::Field& field = activation.schema->fields[i];
        if (field.type == operators::FieldType::float_) {
            // Steepness has a lower bound of 1 before some level.
            const float lowest = field.minimum_before ? static_cast<float>(field.minimum_before->minimum) : 0.0F;
            activation.values[i] = lowest + static_cast<float>(random.pick(1, 16)) / 8.0F;
        }
    }
    return std::make_shared<const Descriptor>(std::move(activation));
}

core::TensorDesc random_parameter(Random& random, core::DataType type, core::Dimensions sizes,
                                  core::FeatureLevel level) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const bool fixed = d == 1 && level < core::FeatureLevel{4, 0};
        sizes[d] = !fixed && random.chance(1, 2) ? 1 : sizes[d];
    }
    return random_layout(random, type, std::move(sizes), operators::FieldKind::input);
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = blank_descriptor(schema);
    const core::DataType type = random_type(random, schema, "InputTensor", level);
    const core::Dimensions sizes = random_sizes(random, random_rank(random, schema, "InputTensor", level));
    field_of(descriptor, "InputTensor") = random_layout(random, type, sizes, operators::FieldKind::input);
    field_of(descriptor, "OutputTensor") = random_layout(random, type, sizes, operators::FieldKind::output);
    const bool scaled = random.chance(1, 2);
    const bool biased = level < core::FeatureLevel{5, 2} ? scaled : random.chance(1, 2);
    if (scaled) {
        field_of(descriptor, "ScaleTensor") = random_parameter(random, type, sizes, level);
    }
    if (biased) {
        field_of(descriptor, "BiasTensor") = random_parameter(random, type, sizes, level);
    }
    std::vector<std::uint32_t> axes;
    for (std::uint32_t d = 0; d < sizes.size(); ++d) {
        if (random.chance(1, 2)) {
            axes.push_back(d);
        }
    }
    if (axes.empty() || random.chance(1, 16)) {
        axes.push_back(random.below(static_cast<std::uint32_t>(sizes.size())));
    }
    field_of(descriptor, "Axes") = axes;
    field_of(descriptor, "NormalizeVariance") = random.chance(3, 4) ? 1U : 0U;
    constexpr std::array<float, 4> epsilons{1e-5F, 1e-3F, 0.5F, 1.0F};
    field_of(descriptor, "Epsilon") = random.one_of(epsilons);
    if (random.chance(1, 2)) {
        field_of(descriptor, "FusedActivation") = random_activation(random, schema, level);
    }
    set_counts(descriptor);
    return descriptor;
}

ElementKind element_kind(const Descriptor& /*descriptor*/, std::string_view /*input*/) {
    return ElementKind::number;
}

}  // namespace

const OperatorFuzz mean_variance_normalization1_fuzz{"MEAN_VARIANCE_NORMALIZATION1", make, element_kind, repair};

}  // namespace dmlconform::fuzz
