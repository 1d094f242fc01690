// Sizes, layouts, axes and activations of random descriptors.
#include "engine/fuzz/fitting.h"

#include <array>
#include <limits>
#include <string>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {

using core::Dimensions;
using operators::Descriptor;

core::TensorDesc* tensor_of(Descriptor& descriptor, std::string_view field) {
    return descriptor.has_field(field) ? std::get_if<core::TensorDesc>(&field_of(descriptor, field)) : nullptr;
}

Dimensions sizes_of(Descriptor& descriptor, std::string_view field) {
    return std::get<core::TensorDesc>(field_of(descriptor, field)).sizes;
}

void resize(Descriptor& descriptor, std::string_view field, const Dimensions& sizes) {
    if (core::TensorDesc* const desc = tensor_of(descriptor, field); desc != nullptr && desc->sizes != sizes) {
        set_sizes(*desc, sizes);
    }
}

void lay_out(Random& random, Descriptor& descriptor, std::string_view field, const Dimensions& sizes) {
    if (core::TensorDesc* const desc = tensor_of(descriptor, field)) {
        *desc = random_layout(random, desc->data_type, sizes, descriptor.schema->find_field(field)->kind);
    }
}

void lay_out_all(Random& random, Descriptor& descriptor) {
    for (const TensorField& tensor : tensors_of(descriptor)) {
        *tensor.desc = random_layout(random, tensor.desc->data_type, tensor.desc->sizes, tensor.field->kind);
    }
}

void set_required_sizes(Descriptor& descriptor, core::FeatureLevel level) {
    for (const auto& [field, wanted, may_have_more] : operators::required_sizes(descriptor, level)) {
        const core::TensorDesc* const desc = tensor_of(descriptor, field);
        if (desc == nullptr || std::ranges::any_of(wanted, [](std::uint64_t size) {
                return size == 0 || size > std::numeric_limits<std::uint32_t>::max();
            })) {
            continue;
        }
        const std::size_t more =
            may_have_more ? std::max(desc->sizes.size(), wanted.size()) - wanted.size() : std::size_t{0};
        Dimensions sizes(more, 1);
        std::ranges::transform(wanted, std::back_inserter(sizes),
                               [](std::uint64_t size) { return static_cast<std::uint32_t>(size); });
        resize(descriptor, field, sizes);
    }
}

std::vector<std::uint32_t> random_axes(Random& random, std::size_t rank) {
    std::vector<std::uint32_t> axes;
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
        if (random.chance(1, 2)) {
            axes.insert(axes.begin() + random.below(static_cast<std::uint32_t>(axes.size()) + 1), axis);
        }
    }
    if (axes.empty() && random.chance(3, 4)) {
        axes.push_back(random.below(static_cast<std::uint32_t>(rank)));
    }
    return axes;
}

operators::OperatorDesc random_activation(Random& random, const operators::OperatorSchema& host,
                                          core::FeatureLevel level, std::uint32_t most_eighths) {
    std::vector<std::string> names;
    for (const auto& [name, from] : host.fusable) {
        if (from <= level) {
            names.push_back(name);
        }
    }
    Descriptor fused =
        blank_descriptor(*operators::find_operator(names.empty() ? "ACTIVATION_RELU" : random.one_of(names)));
    for (std::size_t i = 0; i < fused.values.size(); ++i) {
        const operators::Field& field = fused.schema->fields[i];
        if (field.type == operators::FieldType::float_) {
            // Steepness has a lower bound of 1 before some level.
            const float lowest = field.minimum_before ? static_cast<float>(field.minimum_before->minimum) : 0.0F;
            fused.values[i] = lowest + static_cast<float>(random.pick(1, most_eighths)) / 8.0F;
        }
    }
    return std::make_shared<const Descriptor>(std::move(fused));
}

ElementKind kind_by_catalogue(const Descriptor& descriptor, std::string_view input) {
    constexpr std::array<std::string_view, 4> indices{"IndicesTensor", "SequenceLengthsTensor", "BatchIndicesTensor",
                                                      "MaskTensor"};
    if (std::ranges::find(indices, input) != indices.end()) {
        return ElementKind::index;
    }
    switch (descriptor.schema->elements) {
        case operators::ElementUse::moved:
            return ElementKind::bits;
        case operators::ElementUse::compared:
            return input == "InputTensor" ? ElementKind::ordered : ElementKind::number;
        case operators::ElementUse::computed:
        default:
            return ElementKind::number;
    }
}

Descriptor make_fitting(std::span<const Fitting> fittings, Random& random, const operators::OperatorSchema& schema,
                        core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    const auto own = std::ranges::find(fittings, schema.short_name(), &Fitting::name);
    if (own != fittings.end()) {
        own->fit(random, descriptor);
    }
    set_counts(descriptor);
    return descriptor;
}

}  // namespace dmlconform::fuzz
