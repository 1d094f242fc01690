// `dmlconform export onnx`.
#pragma once

#include "app/command.h"

namespace dmlconform::app {

/// Adds it to `export`. When it is chosen, `exit_code` is set to what it returns.
void add_export_onnx(Command command, int& exit_code);

}  // namespace dmlconform::app
