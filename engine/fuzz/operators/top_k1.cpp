// TOP_K1 and TOP_K: every axis, K up to its full size, many ties.
#include <algorithm>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

void repair(Descriptor& descriptor) {
    const auto* input = std::get_if<core::TensorDesc>(&field_of(descriptor, "InputTensor"));
    auto* axis = std::get_if<std::uint32_t>(&field_of(descriptor, "Axis"));
    auto* k = std::get_if<std::uint32_t>(&field_of(descriptor, "K"));
    if (input == nullptr || axis == nullptr || k == nullptr || input->sizes.empty()) {
        return;
    }
    *axis = std::min<std::uint32_t>(*axis, static_cast<std::uint32_t>(input->sizes.size()) - 1);
    *k = std::clamp(*k, 1U, std::max(input->sizes[*axis], 1U));
    core::Dimensions sizes = input->sizes;
    sizes[*axis] = *k;
    for (const char* name : {"OutputValueTensor", "OutputIndexTensor"}) {
        auto* output = std::get_if<core::TensorDesc>(&field_of(descriptor, name));
        if (output != nullptr && output->sizes != sizes) {
            set_sizes(*output, sizes);
        }
    }
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = blank_descriptor(schema);
    const core::DataType type = random_type(random, schema, "InputTensor", level);
    const core::Dimensions sizes = random_sizes(random, random_rank(random, schema, "InputTensor", level));
    // Often the longest axis, because kernels change their algorithm with the length.
    const auto longest = static_cast<std::uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    const std::uint32_t axis = random.chance(1, 2) ? longest : random.below(static_cast<std::uint32_t>(sizes.size()));
    const std::uint32_t k = random.chance(1, 4) ? sizes[axis] : random.pick(1, sizes[axis]);
    core::Dimensions output = sizes;
    output[axis] = k;
    field_of(descriptor, "InputTensor") = random_layout(random, type, sizes, operators::FieldKind::input);
    field_of(descriptor, "OutputValueTensor") = random_layout(random, type, output, operators::FieldKind::output);
    field_of(descriptor, "OutputIndexTensor") = random_layout(
        random, random_type(random, schema, "OutputIndexTensor", level), output, operators::FieldKind::output);
    field_of(descriptor, "Axis") = axis;
    field_of(descriptor, "K") = k;
    if (schema.find_field("AxisDirection") != nullptr) {
        field_of(descriptor, "AxisDirection") = random.below(2);
    }
    return descriptor;
}

ElementKind element_kind(const Descriptor& /*descriptor*/, std::string_view /*input*/) {
    return ElementKind::ordered;
}

}  // namespace

const OperatorFuzz top_k_fuzz{"TOP_K", make, element_kind, repair};
const OperatorFuzz top_k1_fuzz{"TOP_K1", make, element_kind, repair};

}  // namespace dmlconform::fuzz
