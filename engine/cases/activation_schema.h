// JSON Schema of fused activations in case files.
#pragma once

#include "engine/cases/schema_values.h"

namespace dmlconform::cases {

/// Returns the definitions "activation" and "activations".
[[nodiscard]] Schema activation_definitions();

}  // namespace dmlconform::cases
