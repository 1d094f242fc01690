// TOP_K1 and TOP_K: every axis, K up to its full size, many ties.
#include <algorithm>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

void repair(Descriptor& descriptor) {
    const core::TensorDesc* const input = tensor_of(descriptor, "InputTensor");
    auto* axis = std::get_if<std::uint32_t>(&field_of(descriptor, "Axis"));
    auto* k = std::get_if<std::uint32_t>(&field_of(descriptor, "K"));
    if (input == nullptr || axis == nullptr || k == nullptr || input->sizes.empty()) {
        return;
    }
    *axis = std::min<std::uint32_t>(*axis, static_cast<std::uint32_t>(input->sizes.size()) - 1);
    *k = std::clamp(*k, 1U, std::max(input->sizes[*axis], 1U));
    set_required_sizes(descriptor, core::highest_feature_level);
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    const core::Dimensions sizes = sizes_of(descriptor, "InputTensor");
    // Often the longest axis, because kernels change their algorithm with the length.
    const auto longest = static_cast<std::uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    const std::uint32_t axis = random.chance(1, 2) ? longest : random.below(static_cast<std::uint32_t>(sizes.size()));
    field_of(descriptor, "Axis") = axis;
    field_of(descriptor, "K") = random.chance(1, 4) ? sizes[axis] : random.pick(1, sizes[axis]);
    set_required_sizes(descriptor, level);
    lay_out_all(random, descriptor);
    return descriptor;
}

}  // namespace

const OperatorFuzz top_k_fuzz{make, kind_by_catalogue, repair};

}  // namespace dmlconform::fuzz
