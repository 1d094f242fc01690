// Axes and strides that divide tensors into slices.
#include "engine/cpu/reduction/sets.h"

namespace dmlconform::cpu::reduction {

std::vector<bool> reduced_dimensions(std::span<const std::uint32_t> axes, std::size_t rank) {
    std::vector<bool> reduced(rank);
    for (const std::uint32_t axis : axes) {
        reduced.at(axis) = true;
    }
    return reduced;
}

std::vector<bool> axes_or_last_dimension(const operators::Descriptor& descriptor, std::size_t rank) {
    if (descriptor.has_field("Axes")) {
        return reduced_dimensions(descriptor.uints("Axes"), rank);
    }
    std::vector<bool> reduced(rank);
    reduced.back() = true;
    return reduced;
}

core::Strides repeating_strides(const core::TensorDesc& desc) {
    core::Strides strides = core::signed_strides(desc);
    for (std::size_t d = 0; d < strides.size(); ++d) {
        strides[d] = desc.sizes[d] == 1 ? 0 : strides[d];
    }
    return strides;
}

core::Strides numbering_strides(const core::Dimensions& sizes) {
    const auto packed = core::packed_strides(sizes);
    return {packed.begin(), packed.end()};
}

}  // namespace dmlconform::cpu::reduction
