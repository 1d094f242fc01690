// Sizes of an operator's tensors that a user has given by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// Sizes by tensor: "BTensor", "B" for short, "InputTensors[1]" for an element of an array, and "" for the first
/// tensor.
using GivenSizes = std::vector<std::pair<std::string, core::Dimensions>>;

/// Replaces short names by full ones. Fails if the operator has no such tensor, or if a tensor occurs twice.
[[nodiscard]] core::Result<GivenSizes> with_full_names(const operators::Descriptor& descriptor,
                                                       const GivenSizes& given);

/// The full name of a tensor; "" names the first one. Fails if the operator has no such tensor.
[[nodiscard]] core::Result<std::string> full_name(const operators::Descriptor& descriptor, std::string_view name,
                                                  std::size_t in_array = 1);

/// Removes optional inputs that are not given, except the first tensor. Here and below, names must be full.
void remove_optional_inputs(operators::Descriptor& descriptor, const GivenSizes& given);

/// Sets the sizes of the tensors and makes them packed. Creates absent tensors. An array ends with its last given
/// element.
void put_sizes(operators::Descriptor& descriptor, const GivenSizes& given);

}  // namespace dmlconform::fuzz
