// RNN, LSTM and GRU: networks whose tensors follow from the input and the recurrence.
#include <algorithm>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/layout.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;
using Direction = operators::RecurrentNetworkDirection;

operators::OperatorDesc activation(Random& random, const operators::OperatorSchema& host, core::FeatureLevel level) {
    if (random.chance(1, 2)) {
        return random_activation(random, host, level, 8);
    }
    const char* const usual = random.chance(1, 2) ? "ACTIVATION_SIGMOID" : "ACTIVATION_TANH";
    return std::make_shared<const Descriptor>(blank_descriptor(*operators::find_operator(usual)));
}

/// Draws the tensors that are present, with placeholders for sizes that follow from others.
void draw_tensors(Random& random, Descriptor& descriptor, core::FeatureLevel level) {
    const core::DataType type = random_type(random, *descriptor.schema, "InputTensor", level);
    for (const operators::Field& field : descriptor.schema->fields) {
        if (field.is_tensor() && (!field.optional || random.chance(1, 2))) {
            const bool counts = field.name == "SequenceLengthsTensor";
            field_of(descriptor, field.name) =
                core::TensorDesc::packed(counts ? core::DataType::uint32 : type, {1, 1, 1, 1});
        }
    }
    if (random.chance(1, 2) || descriptor.tensor("OutputSequenceTensor") == nullptr) {
        field_of(descriptor, "OutputSingleTensor") = core::TensorDesc::packed(type, {1, 1, 1, 1});
    }
    std::uint32_t inputs = random.pick(1, 8);
    std::uint32_t hidden = random.pick(1, 8);
    // Sometimes as long as what kernels process at once.
    if (random.chance(1, 6)) {
        (random.chance(1, 2) ? inputs : hidden) = random.pick(15, 33);
    }
    resize(descriptor, "InputTensor", {1, random.pick(1, 6), random.pick(1, 4), inputs});
    resize(descriptor, "RecurrenceTensor", {1, 1, 1, hidden});
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = blank_descriptor(schema);
    const auto direction = static_cast<Direction>(random.below(3));
    for (const operators::Field& field : schema.fields) {
        if (field.type == operators::FieldType::float_) {
            field_of(descriptor, field.name) = static_cast<float>(random.pick(1, 16)) / 8.0F;
        } else if (field.enumeration != nullptr) {
            field_of(descriptor, field.name) =
                field.name == "Direction" ? static_cast<std::uint32_t>(direction) : random.below(2);
        }
    }
    operators::OperatorDescArray activations;
    const std::uint32_t directions = direction == Direction::bidirectional ? 2 : 1;
    for (std::uint32_t i = 0; i < schema.network.activations * directions; ++i) {
        activations.items.push_back(activation(random, schema, level));
    }
    field_of(descriptor, "ActivationDescs") = std::move(activations);
    draw_tensors(random, descriptor, level);
    set_counts(descriptor);
    set_required_sizes(descriptor, level);
    lay_out_all(random, descriptor);
    return descriptor;
}

void repair(Descriptor& descriptor) {
    set_required_sizes(descriptor, core::highest_feature_level);
}

}  // namespace

const OperatorFuzz recurrent_fuzz{make, kind_by_catalogue, repair};

}  // namespace dmlconform::fuzz
