// Which operators can be ONNX models, as a page.
#pragma once

#include <string>

namespace dmlconform::app {

#if DMLCONFORM_HAS_ONNX
/// Markdown: docs/onnx-operators.md.
[[nodiscard]] std::string onnx_table();
#endif

}  // namespace dmlconform::app
