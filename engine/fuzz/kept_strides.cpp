// Derives the strides of smaller tensors, so that a failure that depends on strides can be reduced.
#include "engine/fuzz/kept_strides.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "engine/fuzz/descriptor_builder.h"

namespace dmlconform::fuzz {
namespace {

/// Strides without gaps, for dimensions in the same order as with `old`. What was repeated, with a stride of 0, is
/// repeated.
core::Dimensions packed_anew(const core::Dimensions& sizes, const core::Dimensions& old) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Innermost first. Of equal strides, all but one are of dimensions with one element.
    std::ranges::stable_sort(order, {}, [&](std::size_t d) { return std::tuple(old[d], sizes[d]); });
    core::Dimensions strides(sizes.size());
    std::uint32_t next = 1;
    for (const std::size_t d : order) {
        if (old[d] != 0) {
            strides[d] = next;
            next *= sizes[d];
        }
    }
    return strides;
}

}  // namespace

void keep_strides(core::TensorDesc& desc, const core::TensorDesc& before, Strides strides,
                  std::optional<std::size_t> dropped) {
    if (!before.strides) {
        return;
    }
    core::Dimensions old = *before.strides;
    if (dropped && *dropped < old.size()) {
        old.erase(old.begin() + static_cast<std::ptrdiff_t>(*dropped));
    }
    if (old.size() != desc.sizes.size()) {
        return;
    }
    desc.strides = strides == Strides::kept ? old : packed_anew(desc.sizes, old);
    desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
}

std::optional<operators::Descriptor> with_strides(operators::Descriptor descriptor, const operators::Descriptor& before,
                                                  Strides strides, std::optional<std::size_t> dropped) {
    operators::Descriptor unchanged = before;
    const auto old = tensors_of(unchanged);
    const auto tensors = tensors_of(descriptor);
    bool changed = false;
    for (std::size_t i = 0; old.size() == tensors.size() && i < tensors.size(); ++i) {
        const core::TensorDesc plain = *tensors[i].desc;
        keep_strides(*tensors[i].desc, *old[i].desc, strides, dropped);
        changed = changed || plain.strides != tensors[i].desc->strides;
    }
    return changed ? std::optional(std::move(descriptor)) : std::nullopt;
}

}  // namespace dmlconform::fuzz
