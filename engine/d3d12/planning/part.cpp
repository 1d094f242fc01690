// Cuts tensors into parts.
#include "engine/d3d12/planning/part.h"

#include <algorithm>
#include <utility>

namespace dmlconform::d3d12 {
namespace {

/// Keeps the strides of the whole tensor. Packed parts get no strides, so that they are planned like packed tensors.
void keep_strides(core::TensorDesc& desc, const std::vector<std::uint64_t>& strides) {
    core::Dimensions kept(strides.size());
    for (std::size_t d = 0; d < strides.size(); ++d) {
        // Only the stride of a dimension of size 1 can exceed 32 bits, and it is never used.
        kept[d] = static_cast<std::uint32_t>(strides[d]);
    }
    desc.strides = std::move(kept);
    if (core::is_packed(desc)) {
        desc.strides.reset();
    }
    desc.total_bytes = core::minimum_total_bytes(desc).value();
}

}  // namespace

std::uint64_t device_bytes(const core::TensorDesc& desc) {
    return std::min(desc.total_bytes, core::minimum_total_bytes(desc).value_or(desc.total_bytes));
}

operators::Descriptor blank_descriptor(std::string_view op) {
    operators::Descriptor descriptor;
    descriptor.schema = operators::find_operator(op);
    descriptor.values.resize(descriptor.schema->fields.size());
    return descriptor;
}

operators::FieldValue& field_of(operators::Descriptor& descriptor, std::string_view field) {
    return const_cast<operators::FieldValue&>(descriptor.value(field));  // the descriptor belongs to this object
}

std::vector<core::TensorDesc*> tensors_of(operators::Descriptor& descriptor) {
    std::vector<core::TensorDesc*> tensors;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            // The tensors belong to the descriptor.
            tensors.push_back(const_cast<core::TensorDesc*>(slot.desc));
        }
    }
    return tensors;
}

std::vector<const core::TensorDesc*> tensors_of(const operators::Descriptor& descriptor) {
    std::vector<const core::TensorDesc*> tensors;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            tensors.push_back(slot.desc);
        }
    }
    return tensors;
}

Part whole_part(const operators::Descriptor& descriptor) {
    Part part{descriptor, {}};
    part.starts.resize(tensors_of(descriptor).size());
    return part;
}

void Cut::take(core::TensorDesc& desc, std::uint64_t& start, std::size_t dimension, std::uint32_t from,
               std::uint32_t to) const {
    const auto strides = core::effective_strides(desc);
    start += from * strides[dimension] * core::bits_of(desc.data_type);
    desc.sizes[dimension] = to - from;
    keep_strides(desc, strides);
}

void Cut::take(std::string_view field, std::size_t dimension, std::uint32_t from, std::uint32_t to) {
    const core::TensorDesc* wanted = part_.descriptor.tensor(field);
    const auto tensors = tensors_of(part_.descriptor);
    for (std::size_t i = 0; i < tensors.size() && wanted != nullptr; ++i) {
        if (tensors[i] == wanted) {
            take(*tensors[i], part_.starts[i], dimension, from, to);
        }
    }
}

bool Cut::take_from_all() {
    const std::size_t rank = part_.descriptor.outputs().front().desc->sizes.size();
    const std::uint32_t size = part_.descriptor.outputs().front().desc->sizes[dimension_];
    const auto tensors = tensors_of(part_.descriptor);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        core::TensorDesc* desc = tensors[i];
        if (desc == nullptr) {
            continue;
        }
        if (desc->sizes.size() != rank || (desc->sizes[dimension_] != size && desc->sizes[dimension_] != 1)) {
            return false;
        }
        if (desc->sizes[dimension_] == size) {
            take(*desc, part_.starts[i], dimension_, begin_, end_);
        }
    }
    return true;
}

std::uint32_t Cut::aligned_down(std::string_view field, std::size_t dimension, std::uint32_t from) const {
    const core::TensorDesc& desc = *part_.descriptor.tensor(field);
    const std::uint64_t bits = core::effective_strides(desc)[dimension] * core::bits_of(desc.data_type);
    while (from > 0 && from * bits % (alignment_ * Part::byte_bits) != 0) {
        --from;
    }
    return from;
}

}  // namespace dmlconform::d3d12
