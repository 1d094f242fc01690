// RNN, LSTM and GRU: networks with matching tensors.
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

using Direction = operators::RecurrentNetworkDirection;

struct Shape {
    std::uint32_t gates = 1;
    std::uint32_t steps = 1;
    std::uint32_t batch = 1;
    std::uint32_t inputs = 1;
    std::uint32_t hidden = 1;
    std::uint32_t directions = 1;

    [[nodiscard]] Dimensions sizes_of(std::string_view field) const {
        if (field == "InputTensor") {
            return {1, steps, batch, inputs};
        }
        if (field == "WeightTensor") {
            return {1, directions, gates * hidden, inputs};
        }
        if (field == "RecurrenceTensor") {
            return {1, directions, gates * hidden, hidden};
        }
        if (field == "BiasTensor") {
            return {1, 1, directions, 2 * gates * hidden};
        }
        if (field == "PeepholeTensor") {
            return {1, 1, directions, 3 * hidden};
        }
        if (field == "SequenceLengthsTensor") {
            return {1, 1, 1, batch};
        }
        if (field == "OutputSequenceTensor") {
            return {steps, directions, batch, hidden};
        }
        return {1, directions, batch, hidden};
    }
};

std::uint32_t gates_of(const operators::OperatorSchema& schema) {
    return schema.short_name() == "RNN" ? 1 : schema.short_name() == "GRU" ? 3 : 4;
}

std::uint32_t activations_of(const operators::OperatorSchema& schema) {
    return schema.short_name() == "RNN" ? 1 : schema.short_name() == "GRU" ? 2 : 3;
}

operators::OperatorDesc activation(Random& random, const operators::OperatorSchema& host, core::FeatureLevel level) {
    std::vector<std::string_view> choices{"ACTIVATION_SIGMOID", "ACTIVATION_TANH"};
    if (random.chance(1, 2)) {
        for (const auto& [name, from] : host.fusable) {
            if (from <= level) {
                choices.push_back(name);
            }
        }
    }
    Descriptor fused = blank_descriptor(*operators::find_operator(random.one_of(choices)));
    for (std::size_t i = 0; i < fused.values.size(); ++i) {
        if (fused.schema->fields[i].type == operators::FieldType::float_) {
            fused.values[i] = static_cast<float>(random.pick(1, 8)) / 8.0F;
        }
    }
    return std::make_shared<const Descriptor>(std::move(fused));
}

bool is_present(Random& random, const operators::Field& field) {
    return !field.optional || random.chance(1, 2);
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = blank_descriptor(schema);
    const auto direction = static_cast<Direction>(random.below(3));
    Shape shape{gates_of(schema),  random.pick(1, 6), random.pick(1, 4),
                random.pick(1, 8), random.pick(1, 8), direction == Direction::bidirectional ? 2U : 1U};
    // Sometimes as long as what kernels process at once.
    if (random.chance(1, 6)) {
        (random.chance(1, 2) ? shape.inputs : shape.hidden) = random.pick(15, 33);
    }
    const core::DataType type = random_type(random, schema, "InputTensor", level);
    for (const operators::Field& field : schema.fields) {
        if (field.is_tensor() && is_present(random, field)) {
            field_of(descriptor, field.name) =
                random_layout(random, field.name == "SequenceLengthsTensor" ? core::DataType::uint32 : type,
                              shape.sizes_of(field.name), field.kind);
        } else if (field.type == operators::FieldType::float_) {
            field_of(descriptor, field.name) = static_cast<float>(random.pick(1, 16)) / 8.0F;
        } else if (field.enumeration != nullptr) {
            field_of(descriptor, field.name) =
                field.name == "Direction" ? static_cast<std::uint32_t>(direction) : random.below(2);
        }
    }
    operators::OperatorDescArray activations;
    for (std::uint32_t i = 0; i < activations_of(schema) * shape.directions; ++i) {
        activations.items.push_back(activation(random, schema, level));
    }
    field_of(descriptor, "ActivationDescs") = std::move(activations);
    if (random.chance(1, 2) || descriptor.tensor("OutputSequenceTensor") == nullptr) {
        field_of(descriptor, "OutputSingleTensor") =
            random_layout(random, type, shape.sizes_of("OutputSingleTensor"), operators::FieldKind::output);
    }
    set_counts(descriptor);
    return descriptor;
}

ElementKind element_kind(const Descriptor& /*descriptor*/, std::string_view input) {
    return input == "SequenceLengthsTensor" ? ElementKind::index : ElementKind::number;
}

/// Input and recurrence determine all other sizes.
void repair(Descriptor& descriptor) {
    const Dimensions input = descriptor.tensor("InputTensor")->sizes;
    const Dimensions recurrence = descriptor.tensor("RecurrenceTensor")->sizes;
    if (input.size() != 4 || recurrence.size() != 4) {
        return;
    }
    const Shape shape{gates_of(*descriptor.schema),
                      input[1],
                      input[2],
                      input[3],
                      recurrence[3],
                      enumerator<Direction>(descriptor, "Direction") == Direction::bidirectional ? 2U : 1U};
    for (const TensorField& tensor : tensors_of(descriptor)) {
        const Dimensions sizes = shape.sizes_of(tensor.field->name);
        if (tensor.desc->sizes != sizes) {
            set_sizes(*tensor.desc, sizes);
        }
    }
}

}  // namespace

std::span<const OperatorFuzz> recurrent_fuzz() {
    static constexpr std::array<OperatorFuzz, 3> all{{{"RNN", make, element_kind, repair},
                                                      {"LSTM", make, element_kind, repair},
                                                      {"GRU", make, element_kind, repair}}};
    return all;
}

}  // namespace dmlconform::fuzz
