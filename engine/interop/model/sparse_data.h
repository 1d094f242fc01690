// Sparse initialisers, which become constants like all others.
#pragma once

#include "engine/interop/model/tensor_data.h"

namespace dmlconform::interop {

/// All elements of a sparse tensor, most of which are 0. Only those that are written are kept. Fails if the message is
/// not consistent.
[[nodiscard]] core::Result<ConstantTensor> constant_tensor(const onnx::SparseTensorProto& proto);

}  // namespace dmlconform::interop
