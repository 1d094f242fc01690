// Reads attributes of nodes, and assembles cases.
#include "engine/interop/onnx_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/utf8.h"
#include "engine/interop/model/node_access.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;

ordered_json desc_of(const OnnxTensor& tensor, const core::Dimensions& sizes) {
    return {{"DataType", core::name(tensor.type)}, {"Sizes", sizes}};
}

/// The elements, or the name of the graph's value that contains them.
ordered_json data_of(const OnnxTensor& tensor) {
    return tensor.value.empty() ? tensor.list() : ordered_json(tensor.value);
}

/// Like data_of, but omits outputs without known elements.
void expect(ordered_json& object, const std::string& tensor_name, const OnnxTensor& tensor) {
    if (!tensor.value.empty() || tensor.has_elements()) {
        object["expected"][tensor_name] = data_of(tensor);
    }
}

}  // namespace

const onnx::AttributeProto* OnnxNode::attribute(std::string_view name) const {
    return attribute_of(*proto, name);
}

std::int64_t OnnxNode::integer(std::string_view name, std::int64_t otherwise) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? otherwise : found->i();
}

float OnnxNode::number(std::string_view name, float otherwise) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? otherwise : found->f();
}

std::string OnnxNode::text(std::string_view name, std::string_view otherwise) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? std::string(otherwise) : found->s();
}

void OnnxNode::drop_empty_lists() {
    if (type != "Resize" && type != "Upsample") {
        return;
    }
    for (auto& input : inputs) {
        input = input && input->count() == 0 ? std::nullopt : std::move(input);
    }
}

bool OnnxNode::keeps_aspect_ratio() const {
    const std::string policy = text("keep_aspect_ratio_policy", "");
    return policy == "not_larger" || policy == "not_smaller";
}

std::vector<std::int64_t> OnnxNode::integers(std::string_view name) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? std::vector<std::int64_t>()
                            : std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

std::vector<std::int64_t> OnnxNode::list(std::size_t input_index, std::string_view name) const {
    const OnnxTensor* tensor = input(input_index);
    if (tensor == nullptr) {
        return integers(name);
    }
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < tensor->count(); ++i) {
        values.push_back(tensor->integer(i));
    }
    return values;
}

OnnxCase& OnnxCase::input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes) {
    object_["desc"][field] = desc_of(tensor, sizes);
    object_["inputs"][field] = data_of(tensor);
    return *this;
}

OnnxCase& OnnxCase::strided_input(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& strides) {
    input(field, tensor);
    object_["desc"][field]["Strides"] = strides;
    return *this;
}

core::Result<void> OnnxCase::broadcast_input(const std::string& field, const OnnxTensor& tensor,
                                             const core::Dimensions& sizes) {
    core::Dimensions strides;
    const auto shown = broadcast(tensor, sizes, strides);
    if (!shown) {
        return tl::unexpected(shown.error());
    }
    if (tensor.sizes == sizes) {
        input(field, *shown);
    } else {
        strided_input(field, *shown, strides);
    }
    return {};
}

OnnxCase& OnnxCase::output(const std::string& field, const OnnxTensor& tensor, const core::Dimensions& sizes) {
    object_["desc"][field] = desc_of(tensor, sizes);
    expect(object_, field, tensor);
    return *this;
}

OnnxCase& OnnxCase::array_input(const std::string& field, std::size_t index, const OnnxTensor& tensor) {
    object_["desc"][field].push_back(desc_of(tensor, tensor.sizes));
    object_["inputs"][fmt::format("{}[{}]", field, index)] = data_of(tensor);
    return *this;
}

OnnxCase& OnnxCase::array_output(const std::string& field, std::size_t index, const OnnxTensor& tensor) {
    object_["desc"][field].push_back(desc_of(tensor, tensor.sizes));
    expect(object_, fmt::format("{}[{}]", field, index), tensor);
    return *this;
}

OnnxCase& OnnxCase::set(const std::string& field, ordered_json value) {
    object_["desc"][field] = std::move(value);
    return *this;
}

core::Result<OnnxCase> unary_case(const OnnxNode& node, std::string_view directml) {
    const OnnxTensor& output = *node.output(0);
    if (node.input(0) == nullptr || node.input(0)->count() != output.count()) {
        return core::fail("input and output have different numbers of elements");
    }
    OnnxCase result(directml);
    result.input("InputTensor", *node.input(0), output.sizes).output("OutputTensor", output);
    return result;
}

core::Result<ordered_json> broadcast_case(const OnnxNode& node, std::string_view directml,
                                          std::initializer_list<const char*> fields) {
    if (node.inputs.size() != fields.size()) {
        return core::fail(
            fmt::format("{} has {} inputs; {} takes {}", node.type, node.inputs.size(), directml, fields.size()));
    }
    const OnnxTensor& output = *node.output(0);
    OnnxCase result(directml);
    std::size_t index = 0;
    for (const char* field : fields) {
        const OnnxTensor* input = node.input(index++);
        if (input == nullptr) {
            return core::fail("an input is absent");
        }
        if (const auto done = result.broadcast_input(field, *input, output.sizes); !done) {
            return tl::unexpected(done.error());
        }
    }
    return result.output("OutputTensor", output).take();
}

core::Dimensions padded(const core::Dimensions& sizes, std::size_t rank) {
    core::Dimensions result(rank - std::min(rank, sizes.size()), 1);
    result.insert(result.end(), sizes.begin(), sizes.end());
    return result;
}

core::Dimensions along(const OnnxTensor& parameter, std::size_t rank, std::size_t first) {
    core::Dimensions sizes(rank, 1);
    for (std::size_t d = 0; d < parameter.sizes.size() && first + d < rank; ++d) {
        sizes[first + d] = parameter.sizes[d];
    }
    return sizes;
}

std::optional<std::uint32_t> axis_of(std::int64_t axis, std::size_t rank) {
    const auto count = static_cast<std::int64_t>(rank);
    if (axis < -count || axis >= count) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(axis < 0 ? axis + count : axis);
}

}  // namespace dmlconform::interop
