// RANDOM_GENERATOR: states of six words.
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

constexpr std::uint32_t state_words = 6;

bool is_state(const operators::Field& field) {
    return field.name != "OutputTensor";
}

core::Dimensions state_sizes(std::size_t rank) {
    core::Dimensions sizes(rank, 1);
    sizes.back() = state_words;
    return sizes;
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    for (const TensorField& tensor : tensors_of(descriptor)) {
        if (is_state(*tensor.field)) {
            *tensor.desc = random_layout(random, tensor.desc->data_type, state_sizes(tensor.desc->sizes.size()),
                                         tensor.field->kind);
        }
    }
    return descriptor;
}

ElementKind element_kind(const Descriptor& /*descriptor*/, std::string_view /*input*/) {
    return ElementKind::bits;
}

void repair(Descriptor& descriptor) {
    std::size_t rank = 0;
    for (const TensorField& tensor : tensors_of(descriptor)) {
        if (is_state(*tensor.field)) {
            rank = rank == 0 ? tensor.desc->sizes.size() : rank;
            if (tensor.desc->sizes != state_sizes(rank)) {
                set_sizes(*tensor.desc, state_sizes(rank));
            }
        }
    }
}

}  // namespace

const OperatorFuzz random_generator_fuzz{"RANDOM_GENERATOR", make, element_kind, repair};

}  // namespace dmlconform::fuzz
