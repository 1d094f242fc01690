// Data and tolerances of case files in JSON Schema.
#pragma once

#include "engine/cases/schema_values.h"

namespace dmlconform::cases {

/// The definitions "elements", "data" and "tolerance".
[[nodiscard]] Schema data_definitions();

}  // namespace dmlconform::cases
