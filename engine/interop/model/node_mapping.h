// Maps an ONNX node to an operator of DirectML and to the graph's values.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "engine/interop/model/tensor_data.h"
#include "engine/interop/onnx_node.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::interop {

struct MappedNode {
    std::shared_ptr<const operators::Descriptor> descriptor;
    /// An absent tensor, the name of a value, or a constant that the mapping created.
    using Input = std::variant<std::monostate, std::string, cases::Initialiser>;
    /// In the order of Descriptor::inputs().
    std::vector<Input> inputs;
    /// One for each of Descriptor::outputs(); empty for an absent one, and for one that the node does not name.
    std::vector<std::string> outputs;
};

/// Descriptors of earlier nodes by their text, so that equal nodes share one and are checked once. Most models consist
/// of equal layers.
class KnownDescriptors {
public:
    /// Null if it is not known.
    [[nodiscard]] std::shared_ptr<const operators::Descriptor> find(const std::string& text) const {
        const auto found = by_text_.find(text);
        return found == by_text_.end() ? nullptr : found->second;
    }
    void add(const std::string& text, std::shared_ptr<const operators::Descriptor> descriptor);

private:
    std::unordered_map<std::string, std::shared_ptr<const operators::Descriptor>> by_text_;
    /// The length of all texts.
    std::size_t characters_ = 0;
};

/// The operator, which is legal. Tensors with OnnxTensor::value refer to that value, others are constants.
[[nodiscard]] core::Result<MappedNode> mapped_node(const OnnxNode& node, KnownDescriptors* known = nullptr);

/// Inputs of the node whose elements are needed for the descriptor: shapes, axes, bounds.
[[nodiscard]] std::vector<std::size_t> inputs_to_know(const OnnxNode& node);

/// The node's outputs if all inputs are constants with known elements. Fails if the operator is not supported.
[[nodiscard]] core::Result<std::vector<OnnxTensor>> folded(OnnxNode node, const std::vector<OnnxTensor>& outputs);

}  // namespace dmlconform::interop
