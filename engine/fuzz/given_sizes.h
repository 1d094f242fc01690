// The sizes of an operator's tensors, given by their names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// By tensor: "BTensor", or "B" for short, "InputTensors[1]" for one of an array, and "" for the first tensor.
using GivenSizes = std::vector<std::pair<std::string, core::Dimensions>>;

/// The same with full names. An error where the operator has no such tensor, or where one is given twice.
[[nodiscard]] core::Result<GivenSizes> with_full_names(const operators::Descriptor& descriptor,
                                                       const GivenSizes& given);

/// Removes optional inputs that are not given, but for the first tensor. Names are full here and below.
void remove_optional_inputs(operators::Descriptor& descriptor, const GivenSizes& given);

/// Gives the tensors their sizes, packed. Absent ones are made. An array ends with the last of it that is given.
void put_sizes(operators::Descriptor& descriptor, const GivenSizes& given);

}  // namespace dmlconform::fuzz
