// A model with the data of one data set, and the cases that become of it: one for each node that computes something.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {

/// The tensor that the data set or an initializer has for an input or an output of the graph; an error where there is
/// none, or none of this program's.
using FindTensor = std::function<core::Result<OnnxTensor>(const std::string& name, bool output)>;

/// The cases of a model, called `name`, or `name` with the number and the type of the node where they are several. What
/// a node computes for others is what the reference computes. An error says why the model cannot be such cases: all of
/// its outputs are compared with those of the data set, or it is none.
[[nodiscard]] core::Result<std::vector<nlohmann::ordered_json>> model_cases(const onnx::ModelProto& model,
                                                                            const std::string& name,
                                                                            const FindTensor& find);

}  // namespace dmlconform::interop
