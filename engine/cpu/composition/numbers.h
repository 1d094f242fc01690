// The numbers of a kernel's inputs, by the names of their fields.
#pragma once

#include <string_view>
#include <vector>

#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::composition {

/// An input's elements in row-major order, whatever its strides; nothing if it is absent, or if the operator has no
/// such field.
[[nodiscard]] std::vector<double> numbers_of(const KernelArguments& arguments, std::string_view field);

}  // namespace dmlconform::cpu::composition
