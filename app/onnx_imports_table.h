// The ONNX operators that the importer knows, as a document.
#pragma once

#include <string>

namespace dmlconform::app {

/// Markdown: docs/onnx-imports.md.
[[nodiscard]] std::string onnx_imports_table();

}  // namespace dmlconform::app
