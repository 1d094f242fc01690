// Neutralises attributes one at a time, so that one that cannot be neutral does not prevent others.
#include "engine/fuzz/neutral_descriptor.h"

#include <algorithm>
#include <cmath>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/following_sizes.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/enumerators.h"
#include "engine/operators/neutral.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;
using operators::Field;

/// The wanted value of the field; empty if it may stay.
std::optional<operators::FieldValue> wanted(const Descriptor& descriptor, const Field& field) {
    if (field.is_tensor()) {
        return field.optional ? std::optional<operators::FieldValue>(operators::Null{}) : std::nullopt;
    }
    return descriptor.schema->is_count(field) ? std::nullopt : operators::neutral_value(descriptor, field);
}

/// The descriptor with another value. `follows`: inputs follow the first tensor, see follow_first_tensor.
Descriptor with_value(Descriptor changed, std::size_t index, operators::FieldValue value, bool follows) {
    changed.values[index] = std::move(value);
    set_counts(changed);
    if (follows) {
        follow_first_tensor(changed);
    }
    find_fuzz(*changed.schema).repair(changed);
    set_neutral_sizes(changed, true);
    set_counts(changed);
    return changed;
}

/// Sets the value if the descriptor is legal with it, perhaps with other sizes of inputs.
void replace(Descriptor& descriptor, std::size_t index, const operators::FieldValue& value) {
    for (const bool follows : {false, true}) {
        Descriptor changed = with_value(descriptor, index, value, follows);
        if (!operators::validate(changed, core::highest_feature_level)) {
            descriptor = std::move(changed);
            return;
        }
    }
}

void set_resampled_sizes(Descriptor& descriptor) {
    const bool gradient = descriptor.has_field("InputGradientTensor");
    const auto* input = descriptor.tensor(gradient ? "OutputGradientTensor" : "InputTensor");
    auto* output =
        std::get_if<core::TensorDesc>(&field_of(descriptor, gradient ? "InputGradientTensor" : "OutputTensor"));
    const auto* scales = std::get_if<std::vector<float>>(&descriptor.value("Scales"));
    if (input == nullptr || output == nullptr || scales == nullptr || scales->size() != input->sizes.size()) {
        return;
    }
    core::Dimensions sizes;
    for (std::size_t d = 0; d < scales->size(); ++d) {
        const double size = std::floor(static_cast<double>(input->sizes[d]) * static_cast<double>((*scales)[d]));
        if (!(size >= 1 && size <= 4294967295.0)) {
            return;
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
    }
    if (output->sizes != sizes) {
        set_sizes(*output, sizes);
    }
}

void set_network_sizes(Descriptor& descriptor, bool weights_are_given) {
    const core::TensorDesc* input = descriptor.tensor("InputTensor");
    auto& recurrence = std::get<core::TensorDesc>(field_of(descriptor, "RecurrenceTensor"));
    if (!weights_are_given && input->sizes.size() == 4 && recurrence.sizes.size() == 4) {
        core::Dimensions sizes = recurrence.sizes;
        sizes[3] = input->sizes[3];
        set_sizes(recurrence, sizes);
        find_fuzz(*descriptor.schema).repair(descriptor);
    }
    auto* activations = std::get_if<operators::OperatorDescArray>(&field_of(descriptor, "ActivationDescs"));
    using Direction = operators::RecurrentNetworkDirection;
    const auto direction = enumerator<Direction>(descriptor, "Direction");
    const bool is_legal = direction <= Direction::bidirectional;
    const std::size_t count = descriptor.schema->network.activations;
    if (activations != nullptr && is_legal && activations->items.size() % count == 0 && !activations->items.empty()) {
        const bool two = direction == Direction::bidirectional;
        activations->items.resize(count);
        for (std::size_t i = 0; two && i < count; ++i) {
            activations->items.push_back(activations->items[i]);
        }
        set_counts(descriptor);
    }
}

}  // namespace

void make_neutral(Descriptor& descriptor) {
    // Two rounds, because some values become legal only after others are neutral.
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
            if (const auto value = wanted(descriptor, descriptor.schema->fields[i])) {
                replace(descriptor, i, *value);
            }
        }
    }
}

void set_neutral_sizes(Descriptor& descriptor, bool weights_are_given) {
    const bool resamples = descriptor.has_field("Scales");
    const bool is_network = descriptor.has_field("RecurrenceTensor");
    if (resamples) {
        set_resampled_sizes(descriptor);
    }
    if (is_network && descriptor.tensor("InputTensor") != nullptr && descriptor.tensor("RecurrenceTensor") != nullptr) {
        set_network_sizes(descriptor, weights_are_given);
    }
}

}  // namespace dmlconform::fuzz
