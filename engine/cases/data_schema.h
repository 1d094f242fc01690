// JSON Schema of tensor data and tolerances in case files.
#pragma once

#include "engine/cases/schema_values.h"

namespace dmlconform::cases {

/// Returns the definitions "elements", "data" and "tolerance".
[[nodiscard]] Schema data_definitions();

}  // namespace dmlconform::cases
