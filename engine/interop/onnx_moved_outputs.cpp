// Undoes transpositions and changes of sizes.
#include "engine/interop/onnx_moved_outputs.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dmlconform::interop {
namespace {

constexpr std::string_view transposition = "Transpose";
constexpr std::array<std::string_view, 6> movers{"Flatten", "Identity",    "Reshape",
                                                 "Squeeze", transposition, "Unsqueeze"};

bool moves(const onnx::NodeProto& node) {
    return node.domain().empty() && node.input.size() > 0 && node.output.size() == 1 &&
           std::ranges::find(movers, std::string_view(node.op_type())) != movers.end();
}

/// Dimension d of a Transpose's output is the entry d of its input. Empty if it is no permutation.
std::optional<std::vector<std::size_t>> order_of(const onnx::NodeProto& node, std::size_t rank) {
    std::vector<std::size_t> order(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        order[d] = rank - 1 - d;
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.name() == "perm") {
            order.assign(attribute.ints().begin(), attribute.ints().end());
        }
    }
    std::vector<bool> seen(rank);
    for (const std::size_t d : order) {
        if (order.size() != rank || d >= rank || seen[d]) {
            return std::nullopt;
        }
        seen[d] = true;
    }
    return order;
}

std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
    std::vector<std::size_t> result(order.size());
    for (std::size_t d = 0; d < order.size(); ++d) {
        result[order[d]] = d;
    }
    return result;
}

}  // namespace

MovedOutputs::MovedOutputs(const std::vector<onnx::NodeProto>& nodes, const std::map<std::string, OnnxTensor>& expected)
    : expected_(&expected) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const onnx::NodeProto& node = nodes[i];
        if (moves(node) && (expected.contains(node.output(0)) || movers_.contains(node.output(0)))) {
            movers_.insert_or_assign(node.input(0), &node);
        }
    }
}

std::optional<OnnxTensor> MovedOutputs::expected_of(const std::string& value, const OnnxTensor& like) const {
    auto moved = expected_ == nullptr ? std::nullopt : found(value, like.sizes);
    if (!moved || moved->type != like.type || moved->is_bool != like.is_bool || moved->count() != like.count()) {
        return std::nullopt;
    }
    moved->sizes = like.sizes;
    moved->is_scalar = like.is_scalar;
    return moved;
}

std::optional<OnnxTensor> MovedOutputs::found(const std::string& value,
                                              const std::optional<core::Dimensions>& sizes) const {
    if (const auto output = expected_->find(value); output != expected_->end()) {
        OnnxTensor tensor = output->second;
        if (sizes && core::element_count(*sizes) == tensor.count()) {
            tensor.sizes = *sizes;
        }
        return tensor;
    }
    const auto mover = movers_.find(value);
    if (mover == movers_.end()) {
        return std::nullopt;
    }
    const onnx::NodeProto& node = *mover->second;
    if (node.op_type() != transposition) {
        auto tensor = found(node.output(0), std::nullopt);
        if (tensor && sizes && core::element_count(*sizes) == tensor->count()) {
            tensor->sizes = *sizes;
        }
        return tensor;
    }
    std::optional<core::Dimensions> behind;
    if (sizes) {
        const auto order = order_of(node, sizes->size());
        if (!order) {
            return std::nullopt;
        }
        behind.emplace();
        for (const std::size_t d : *order) {
            behind->push_back((*sizes)[d]);
        }
    }
    const auto tensor = found(node.output(0), behind);
    const auto order = tensor ? order_of(node, tensor->sizes.size()) : std::nullopt;
    core::Dimensions strides;
    return order ? std::optional(transposed(*tensor, inverse(*order), strides)) : std::nullopt;
}

}  // namespace dmlconform::interop
