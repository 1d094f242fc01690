// Operators that the reference does without although it has their kernels, so that it shows how the program treats
// operators that have none.
#pragma once

#include <string_view>

namespace dmlconform::cpu {

/// Whether the environment variable DMLCONFORM_WITHOUT_REFERENCE lists the operator, by its short name and with commas
/// between them. It is read once, when somebody asks first.
[[nodiscard]] bool is_left_out(std::string_view short_name);

/// This list counts in the process from now on, and the environment's no more. For tests; no other thread may ask
/// meanwhile.
void leave_out(std::string_view short_names);

}  // namespace dmlconform::cpu
