// Which integers an operator's inputs may have so that its result is specified.
#pragma once

#include <string_view>

#include "engine/core/tensor_desc.h"
#include "engine/fuzz/values.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// The kind of an input's elements, which are integers: any, unless the result is DirectML's own choice for some.
[[nodiscard]] ElementKind integer_kind(const operators::Descriptor& descriptor, std::string_view input,
                                       core::DataType type);

}  // namespace dmlconform::fuzz
