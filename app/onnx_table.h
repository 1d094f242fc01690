// Which operators can be ONNX models, as a page.
#pragma once

#include <string>

namespace dmlconform::app {

/// Markdown: docs/onnx-operators.md.
[[nodiscard]] std::string onnx_table();

}  // namespace dmlconform::app
