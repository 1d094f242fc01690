// Converts a model with one data set to cases, one for each node that computes something.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {

/// The tensor of the data set, or of an initializer, for an input or an output of the graph. Fails if there is none, or
/// if its type is not supported.
using FindTensor = std::function<core::Result<OnnxTensor>(const std::string& name, bool output)>;

/// The data of a sequence or of an optional value.
struct SequenceData {
    bool is_sequence = false;
    bool has_value = true;
    std::vector<OnnxTensor> tensors;
};
/// The same for an input or an output that is a sequence or an optional value.
using FindSequence = std::function<core::Result<SequenceData>(const std::string& name, bool output)>;

/// The cases of a model, called `name`, with the number and type of the node appended if there are several. Values
/// between nodes are computed by the reference. Fails if not all outputs can be compared with the data set's, or if
/// there are no cases.
[[nodiscard]] core::Result<std::vector<nlohmann::ordered_json>> model_cases(const onnx::ModelProto& model,
                                                                            const std::string& name,
                                                                            const FindTensor& find,
                                                                            const FindSequence& find_sequence);

}  // namespace dmlconform::interop
