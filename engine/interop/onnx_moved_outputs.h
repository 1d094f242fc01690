// Follows the outputs of a model back through nodes that only move elements.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/interop/onnx_messages.h"
#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop {

/// The values whose elements are those of an output of the model, in another order or with other sizes.
///
/// What is expected of the output is then expected of the value, too, where it is computed: a Transpose behind a
/// product rounds nothing, so only the product can say which errors of rounding are right.
class MovedOutputs {
public:
    MovedOutputs() = default;
    /// `expected`: the elements of the model's outputs. Both must outlive this object.
    MovedOutputs(const std::vector<onnx::NodeProto>& nodes, const std::map<std::string, OnnxTensor>& expected);

    /// What is expected of a value that has the type and sizes of `like`. Empty if its elements are not those of an
    /// output.
    [[nodiscard]] std::optional<OnnxTensor> expected_of(const std::string& value, const OnnxTensor& like) const;

private:
    /// The sizes are those of the output if they are not known.
    [[nodiscard]] std::optional<OnnxTensor> found(const std::string& value,
                                                  const std::optional<core::Dimensions>& sizes) const;

    const std::map<std::string, OnnxTensor>* expected_ = nullptr;
    /// The node that moves a value towards an output.
    std::map<std::string, const onnx::NodeProto*> movers_;
};

}  // namespace dmlconform::interop
