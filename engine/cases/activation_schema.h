// Fused activations in JSON Schema.
#pragma once

#include "engine/cases/schema_values.h"

namespace dmlconform::cases {

/// The definitions "activation" and "activations".
[[nodiscard]] Schema activation_definitions();

}  // namespace dmlconform::cases
