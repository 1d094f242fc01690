// `dmlconform export onnx`.
#pragma once

#include "app/command.h"

namespace dmlconform::app {

#if DMLCONFORM_HAS_ONNX
/// Adds it to `export`. When it is chosen, `exit_code` is set to what it returns.
void add_export_onnx(Command command, int& exit_code);
#endif

}  // namespace dmlconform::app
