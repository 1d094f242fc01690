// Operators and graphs of DirectML as ONNX models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::interop {

inline constexpr std::int64_t oldest_export_opset = 13;
inline constexpr std::int64_t newest_export_opset = 21;
inline constexpr std::int64_t default_export_opset = 17;

/// A tensor of a descriptor as an input or an output of a model. ONNX's tensors are packed: this one has the elements
/// that these sizes and strides show of the descriptor's tensor. An output has the descriptor's sizes. Of an input,
/// broadcast dimensions have the size 1, and dimensions that strides order otherwise come in the order of memory.
struct OnnxPort {
    std::string name;
    core::DataType type = core::DataType::unknown;
    core::Dimensions sizes;
    core::Dimensions strides;

    [[nodiscard]] core::TensorDesc packed() const { return core::TensorDesc::packed(type, sizes); }
};

struct ExportedModel {
    /// A ModelProto, serialised.
    std::string bytes;
    /// In the order of Descriptor::inputs(); nothing for an absent tensor. The model has the others in this order.
    std::vector<std::optional<OnnxPort>> inputs;
    /// In the order of Descriptor::outputs(), likewise.
    std::vector<std::optional<OnnxPort>> outputs;
    /// The types of the model's nodes, each once, in the order in which they come.
    std::vector<std::string> node_types;
};

/// The descriptor, of an operator or a graph, as a model. It must be legal. An error says what ONNX cannot express.
[[nodiscard]] core::Result<ExportedModel> export_onnx(const operators::Descriptor& descriptor,
                                                      std::int64_t opset = default_export_opset);

/// The elements that the model's tensor has, packed, of the descriptor's tensor.
[[nodiscard]] core::Tensor port_elements(const OnnxPort& port, const core::Tensor& tensor);

/// Writes the elements of the model's tensor, packed in `elements`, into the descriptor's tensor.
void store_port_elements(const OnnxPort& port, std::span<const std::byte> elements, core::Tensor& tensor);

/// Why no case of the operator can be exported at any opset; empty where some can.
[[nodiscard]] std::string never_exported(const operators::OperatorSchema& schema);

}  // namespace dmlconform::interop
