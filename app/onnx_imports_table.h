// The ONNX operators that the importer knows, as a document.
#pragma once

#include <string>

namespace dmlconform::app {

/// Markdown: docs/import.md.
[[nodiscard]] std::string onnx_imports_table();

}  // namespace dmlconform::app
