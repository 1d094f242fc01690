// Models for workers that want these instead of descriptors. The program that starts a worker provides a function that
// makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::worker {

/// An input or an output of a model, which is packed, and how its elements lie in the descriptor's tensor.
struct ModelTensor {
    std::string name;
    core::DataType type = core::DataType::unknown;
    core::Dimensions sizes;
    /// For inputs: converts the descriptor's tensor to the packed elements of the model.
    std::function<core::Tensor(const core::Tensor&)> packed{};
    /// For outputs: writes the model's elements to the descriptor's tensor.
    std::function<void(std::span<const std::byte> elements, core::Tensor&)> store{};

    [[nodiscard]] std::uint64_t bytes() const { return core::bytes_of(type, *core::element_count(sizes)); }
};

struct WantedModel {
    /// In the format that the worker wants.
    std::string bytes;
    /// In the order of the descriptor's tensors; nothing for an absent one. The model has the others in this order.
    std::vector<std::optional<ModelTensor>> inputs;
    std::vector<std::optional<ModelTensor>> outputs;
};

/// Makes an ONNX model of a descriptor, of an operator or a graph, for that opset. An error says what ONNX cannot
/// express.
using ModelMaker = std::function<core::Result<WantedModel>(const operators::Descriptor&, std::int64_t opset)>;

}  // namespace dmlconform::worker
