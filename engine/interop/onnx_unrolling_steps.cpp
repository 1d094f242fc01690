// Adds nodes while a model is unrolled.
#include "engine/interop/onnx_unrolling_steps.h"

#include <fmt/format.h>

#include <utility>

#include "engine/interop/model/node_access.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop::unrolling {
namespace {

/// Limit for the nodes of an unrolled model: nested loops of a hostile model would run almost without end.
constexpr std::size_t most_unrolled_nodes = 4096;

constexpr int bool_number = 9;
constexpr int int64_number = 7;

onnx::AttributeProto named_integer(const char* name, std::int64_t value) {
    onnx::AttributeProto made;
    made.name.set(name);
    made.i.set(value);
    return made;
}

}  // namespace

std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise) {
    const onnx::AttributeProto* found = attribute_of(node, name);
    return found == nullptr ? otherwise : found->i();
}

core::Result<void> Steps::add(onnx::NodeProto node) {
    if (++added_ > most_unrolled_nodes) {
        return core::fail(fmt::format("the model runs more than {} nodes", most_unrolled_nodes));
    }
    return add_(std::move(node));
}

core::Result<UnrolledValue> Steps::add(const char* type, std::vector<std::string> inputs,
                                       std::vector<onnx::AttributeProto> attributes) {
    onnx::NodeProto node;
    node.op_type.set(type);
    node.input.edit() = std::move(inputs);
    node.attribute.edit() = std::move(attributes);
    // A name that cannot occur in a model, because ONNX's names are identifiers.
    const std::string name = fmt::format("#step{}", added_);
    node.output.add(name);
    if (auto added = add(std::move(node)); !added) {
        return tl::unexpected(std::move(added.error()));
    }
    return UnrolledValue{false, true, {name}};
}

core::Result<UnrolledValue> Steps::constant(onnx::TensorProto tensor) {
    onnx::AttributeProto value;
    value.name.set("value");
    value.t.edit() = std::move(tensor);
    return add("Constant", {}, {std::move(value)});
}

core::Result<UnrolledValue> Steps::truth(bool value) {
    onnx::TensorProto tensor;
    tensor.data_type.set(bool_number);
    tensor.int32_data.add(value ? 1 : 0);
    return constant(std::move(tensor));
}

core::Result<UnrolledValue> Steps::number(std::int64_t value) {
    onnx::TensorProto tensor;
    tensor.data_type.set(int64_number);
    tensor.int64_data.add(value);
    return constant(std::move(tensor));
}

core::Result<std::int64_t> Steps::known_integer(const UnrolledValue& value) const {
    const OnnxTensor* tensor = value.is_sequence || value.tensors.empty() ? nullptr : known_(value.tensors.front());
    if (tensor == nullptr || tensor->count() != 1 || !tensor->has_elements()) {
        return core::fail("a condition, a trip count or a position is not known");
    }
    return tensor->integer(0);
}

core::Result<std::int64_t> Steps::known_size(const UnrolledValue& tensor, std::int64_t axis) const {
    const OnnxTensor* known = tensor.is_sequence || tensor.tensors.empty() ? nullptr : known_(tensor.tensors.front());
    const core::Dimensions sizes = known == nullptr ? core::Dimensions() : known->onnx_sizes();
    const auto dimension = axis_of(axis, sizes.size());
    return dimension ? core::Result<std::int64_t>(sizes[*dimension])
                     : core::fail("the size of what is scanned is not known");
}

core::Result<UnrolledValue> Steps::joined(const std::vector<std::string>& tensors, std::int64_t axis, bool new_axis) {
    std::vector<std::string> parts = tensors;
    if (parts.empty()) {
        return core::fail("a result of 0 steps or of an empty sequence has a size of 0 in a dimension");
    }
    for (std::string& part : parts) {
        if (!new_axis) {
            break;
        }
        // From opset 13 on, the axes are an input.
        auto axes = opset_ < 13 ? core::Result<UnrolledValue>(UnrolledValue{}) : number_list(axis);
        if (!axes) {
            return axes;
        }
        onnx::AttributeProto attribute;
        attribute.name.set("axes");
        attribute.ints.add(axis);
        auto wider =
            opset_ < 13 ? add("Unsqueeze", {part}, {attribute}) : add("Unsqueeze", {part, axes->tensors.front()}, {});
        if (!wider) {
            return wider;
        }
        part = wider->tensors.front();
    }
    return parts.size() == 1 ? core::Result<UnrolledValue>(UnrolledValue{false, true, std::move(parts)})
                             : add("Concat", std::move(parts), {named_integer("axis", axis)});
}

core::Result<UnrolledValue> Steps::picked(const UnrolledValue& tensor, std::int64_t axis, std::int64_t position) {
    auto index = number(position);
    return index && !tensor.tensors.empty()
               ? add("Gather", {tensor.tensors.front(), index->tensors.front()}, {named_integer("axis", axis)})
           : index ? core::fail("what is scanned is not a tensor")
                   : index;
}

core::Result<UnrolledValue> Steps::number_list(std::int64_t value) {
    onnx::TensorProto tensor;
    tensor.data_type.set(int64_number);
    tensor.dims.add(1);
    tensor.int64_data.add(value);
    return constant(std::move(tensor));
}

}  // namespace dmlconform::interop::unrolling
