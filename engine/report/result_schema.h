// The JSON Schema of result files.
#pragma once

#include <string>

namespace dmlconform::report {

/// A JSON Schema (2020-12) for what json_report writes.
[[nodiscard]] std::string result_schema();

}  // namespace dmlconform::report
