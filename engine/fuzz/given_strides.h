// Strides of an operator's tensors that a user has given: as numbers, or as the order of dimensions in memory.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"
#include "engine/fuzz/given_sizes.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Strides by tensor, named as for GivenSizes: "200704,1,3584,64", or "nhwc", the order of dimensions from the
/// outermost in memory to the innermost.
using GivenStrides = std::vector<std::pair<std::string, std::string>>;

/// Parses one tensor's strides.
[[nodiscard]] core::Result<core::Dimensions> strides_of(std::string_view text, const core::Dimensions& sizes);

/// Gives tensors these strides, and the smallest total size for them. Fails if a tensor is absent, or if its strides do
/// not fit.
[[nodiscard]] core::Result<void> put_strides(operators::Descriptor& descriptor, const GivenStrides& given);

/// Replaces sizes of inputs that must have the same sizes as other tensors, by the sizes to which NumPy broadcasts
/// them, and returns the strides that repeat their elements. Names must be full. What cannot be broadcast stays as it
/// is, so that the rules reject it.
[[nodiscard]] GivenStrides broadcast(const operators::OperatorSchema& schema, GivenSizes& given);

}  // namespace dmlconform::fuzz
