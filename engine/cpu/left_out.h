// Operators whose reference is disabled although there is a kernel, to test how the program treats operators without a
// reference.
#pragma once

#include <string_view>

namespace dmlconform::cpu {

/// True if the environment variable DMLCONFORM_WITHOUT_REFERENCE lists the operator. It contains short names, separated
/// by commas, and is read once, on first use.
[[nodiscard]] bool is_left_out(std::string_view short_name);

/// Replaces the environment's list for this process. For tests; not thread-safe.
void leave_out(std::string_view short_names);

}  // namespace dmlconform::cpu
