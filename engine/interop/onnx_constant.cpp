// Nodes whose result does not depend on elements: constants, and sizes of tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/core/element.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using Constant = core::Result<OnnxTensor>;

Constant whole_list(const std::vector<std::int64_t>& values) {
    if (values.empty()) {
        return core::fail("a list of a constant node is empty");
    }
    OnnxTensor tensor{core::DataType::int64,
                      {static_cast<std::uint32_t>(values.size())},
                      std::vector<std::byte>(values.size() * sizeof(std::int64_t))};
    for (std::size_t i = 0; i < values.size(); ++i) {
        core::store_element(tensor.elements, tensor.type, i, static_cast<std::uint64_t>(values[i]));
    }
    return tensor;
}

Constant numbers_of(const std::vector<float>& values) {
    if (values.empty()) {
        return core::fail("a list of a constant node is empty");
    }
    OnnxTensor tensor{core::DataType::float32,
                      {static_cast<std::uint32_t>(values.size())},
                      std::vector<std::byte>(values.size() * sizeof(float))};
    std::memcpy(tensor.elements.data(), values.data(), tensor.elements.size());
    return tensor;
}

Constant whole_number(std::int64_t value) {
    auto tensor = whole_list({value});
    tensor->is_scalar = true;
    return tensor;
}

/// The value of a Constant, from one of its attributes.
Constant constant(const OnnxNode& node) {
    if (const onnx::AttributeProto* value = node.attribute("value")) {
        return onnx_tensor(value->t());
    }
    if (const onnx::AttributeProto* whole = node.attribute("value_int")) {
        return whole_number(whole->i());
    }
    if (node.attribute("value_ints") != nullptr) {
        return whole_list(node.integers("value_ints"));
    }
    if (const onnx::AttributeProto* number = node.attribute("value_float")) {
        return one_number(number->f());
    }
    if (const onnx::AttributeProto* numbers = node.attribute("value_floats")) {
        return numbers_of(numbers->floats());
    }
    return core::fail("a Constant of this kind is not mapped");
}

/// The dimensions from "start" up to "end".
Constant shape(const OnnxNode& node) {
    const core::Dimensions sizes = node.input(0)->onnx_sizes();
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const auto bound = [&](const char* name, std::int64_t otherwise) {
        const std::int64_t written = node.integer(name, otherwise);
        return std::clamp<std::int64_t>(written < 0 ? written + rank : written, 0, rank);
    };
    std::vector<std::int64_t> values;
    for (std::int64_t d = bound("start", 0); d < bound("end", rank); ++d) {
        values.push_back(sizes[static_cast<std::size_t>(d)]);
    }
    // The shape of a scalar is empty.
    return values.empty() ? Constant(OnnxTensor{core::DataType::int64, {0}, {}, false, false}) : whole_list(values);
}

}  // namespace

std::optional<Constant> constant_result(const OnnxNode& node) {
    if (node.type == "Constant") {
        return constant(node);
    }
    if (node.type != "Shape" && node.type != "Size") {
        return std::nullopt;
    }
    if (node.input(0) == nullptr) {
        return core::fail(fmt::format("{} has no data", node.type));
    }
    return node.type == "Shape" ? shape(node) : whole_number(static_cast<std::int64_t>(node.input(0)->count()));
}

}  // namespace dmlconform::interop
