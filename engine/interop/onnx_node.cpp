// Attributes of nodes, and parts of cases.
#include "engine/interop/onnx_node.h"

#include <fmt/format.h>

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;

ordered_json desc_of(const OnnxTensor& tensor, const core::Dimensions& sizes) {
    return {{"DataType", core::name(tensor.type)}, {"Sizes", sizes}};
}

}  // namespace

const onnx::AttributeProto* OnnxNode::attribute(std::string_view name) const {
    for (const onnx::AttributeProto& candidate : proto->attribute()) {
        if (candidate.name() == name) {
            return &candidate;
        }
    }
    return nullptr;
}

std::int64_t OnnxNode::integer(std::string_view name, std::int64_t otherwise) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? otherwise : found->i();
}

float OnnxNode::number(std::string_view name, float otherwise) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? otherwise : found->f();
}

std::vector<std::int64_t> OnnxNode::integers(std::string_view name) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? std::vector<std::int64_t>()
                            : std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

OnnxCase& OnnxCase::input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes) {
    object_["desc"][field] = desc_of(tensor, sizes);
    object_["inputs"][field] = tensor.list();
    return *this;
}

OnnxCase& OnnxCase::strided_input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& strides) {
    input(field, tensor);
    object_["desc"][field]["Strides"] = strides;
    return *this;
}

OnnxCase& OnnxCase::output(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes) {
    object_["desc"][field] = desc_of(tensor, sizes);
    object_["expected"][field] = tensor.list();
    return *this;
}

OnnxCase& OnnxCase::array_input(const std::string& field, std::size_t index, const OnnxTensor& tensor) {
    object_["desc"][field].push_back(desc_of(tensor, tensor.sizes));
    object_["inputs"][fmt::format("{}[{}]", field, index)] = tensor.list();
    return *this;
}

OnnxCase& OnnxCase::array_output(const std::string& field, std::size_t index, const OnnxTensor& tensor) {
    object_["desc"][field].push_back(desc_of(tensor, tensor.sizes));
    object_["expected"][fmt::format("{}[{}]", field, index)] = tensor.list();
    return *this;
}

OnnxCase& OnnxCase::set(const std::string& field, ordered_json value) {
    object_["desc"][field] = std::move(value);
    return *this;
}

std::optional<std::uint32_t> axis_of(std::int64_t axis, std::size_t rank) {
    const auto count = static_cast<std::int64_t>(rank);
    if (axis < -count || axis >= count) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(axis < 0 ? axis + count : axis);
}

core::Result<ordered_json> map_node(const OnnxNode& node) {
    if (node.output(0) == nullptr) {
        return core::fail("the node has no first output");
    }
    for (const auto map : {map_element_wise, map_movement, map_composite}) {
        if (auto mapped = map(node)) {
            return std::move(*mapped);
        }
    }
    return core::fail(fmt::format("{} has no mapping to a DirectML operator", node.type));
}

}  // namespace dmlconform::interop
