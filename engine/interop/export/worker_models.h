// Models for workers that want these instead of descriptors.
#pragma once

#include "engine/worker/wanted_model.h"

namespace dmlconform::interop {

/// Makes what `export onnx` writes.
[[nodiscard]] worker::ModelMaker worker_models();

}  // namespace dmlconform::interop
