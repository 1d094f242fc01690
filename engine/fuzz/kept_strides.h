// Strides for tensors whose sizes have changed, from those that they had before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

enum class Strides : std::uint8_t {
    in_order,  // without gaps, with the same order of dimensions in memory
    kept,      // the same numbers
};

/// Gives the tensor such strides for its sizes, and the smallest total size for them. `dropped`: a dimension of
/// `before` that it does not have any more. Does nothing if `before` has no strides, or another number of dimensions.
void keep_strides(core::TensorDesc& desc, const core::TensorDesc& before, Strides strides,
                  std::optional<std::size_t> dropped = std::nullopt);

/// The same for all tensors of a descriptor. Empty if nothing changes.
[[nodiscard]] std::optional<operators::Descriptor> with_strides(operators::Descriptor descriptor,
                                                                const operators::Descriptor& before, Strides strides,
                                                                std::optional<std::size_t> dropped = std::nullopt);

}  // namespace dmlconform::fuzz
