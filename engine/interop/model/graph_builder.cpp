// Adds nodes in order, then builds the graph of those that are needed.
#include "engine/interop/model/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dmlconform::interop {
namespace {

/// One-dimensional if there are more dimensions than operators support: readers describe the bytes themselves.
core::TensorDesc desc_of(const OnnxTensor& tensor) {
    const bool many = tensor.sizes.size() > core::max_dimension_count && tensor.count() <= 0xffffffff;
    return core::TensorDesc::packed(tensor.type,
                                    many ? core::Dimensions{static_cast<std::uint32_t>(tensor.count())} : tensor.sizes);
}

}  // namespace

std::string GraphBuilder::unique_value_name(const std::string& name) {
    return value_names_.unique(name);
}

void GraphBuilder::declare(const std::string& value, ModelInput input) {
    declared_.insert_or_assign(value, std::move(input));
}

void GraphBuilder::add_node(const std::string& name, std::size_t origin, MappedNode node) {
    const std::string node_name = node_names_.unique(name);
    const auto slots = node.descriptor->inputs();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (auto* constant = std::get_if<cases::Initialiser>(&node.inputs[i])) {
            const std::string value = unique_value_name(fmt::format("{}.{}", node_name, slots[i].name));
            OnnxTensor tensor{slots[i].desc->data_type, slots[i].desc->sizes, {}, false, false};
            declared_.emplace(value, ModelInput{ModelInput::Kind::constant, value, tensor, std::move(*constant)});
            node.inputs[i] = value;
        }
    }
    const auto outputs = node.descriptor->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc != nullptr && node.outputs[i].empty()) {
            node.outputs[i] = unique_value_name(fmt::format("{}.{}", node_name, outputs[i].name));
        }
        if (!node.outputs[i].empty()) {
            computed_.insert_or_assign(node.outputs[i], nodes_.size());
        }
    }
    nodes_.push_back({node_name, origin, std::move(node)});
}

std::vector<std::string> GraphBuilder::need(const std::string& value) {
    std::vector<std::string> declared;
    std::vector<std::size_t> open;
    const auto need_one = [&](const std::string& name) {
        const auto producer = computed_.find(name);
        if (producer == computed_.end()) {
            declared.push_back(name);
        } else if (!std::exchange(nodes_[producer->second].needed, true)) {
            open.push_back(producer->second);
        }
    };
    need_one(value);
    while (!open.empty()) {
        const std::size_t node = open.back();
        open.pop_back();
        for (const MappedNode::Input& input : nodes_[node].mapped.inputs) {
            if (const auto* name = std::get_if<std::string>(&input)) {
                need_one(*name);
            }
        }
    }
    return declared;
}

operators::ValueIndex GraphBuilder::value_index(const std::string& value, BuiltGraph& built) {
    const auto [found, is_new] = indices_.try_emplace(value, built.graph.values.size());
    if (is_new) {
        // What is not computed yet is never computed: nodes come after those that they read from.
        const ModelInput& input = declared_.at(value);
        const bool constant = input.kind == ModelInput::Kind::constant;
        built.graph.values.push_back({value, desc_of(input.tensor), std::nullopt, constant});
        built.graph.inputs.push_back(found->second);
        built.inputs.push_back(input);
    }
    return found->second;
}

void GraphBuilder::put_node(Node node, BuiltGraph& built) {
    operators::GraphNode put{std::move(node.name), node.mapped.descriptor, {}, {}};
    put.inputs.reserve(node.mapped.inputs.size());
    put.outputs.reserve(node.mapped.outputs.size());
    for (const MappedNode::Input& input : node.mapped.inputs) {
        const auto* value = std::get_if<std::string>(&input);
        put.inputs.push_back(value == nullptr ? operators::no_value : value_index(*value, built));
    }
    const auto slots = node.mapped.descriptor->outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            put.outputs.push_back(operators::no_value);
            continue;
        }
        put.outputs.push_back(built.graph.values.size());
        indices_.insert_or_assign(node.mapped.outputs[i], built.graph.values.size());
        built.graph.values.push_back({std::move(node.mapped.outputs[i]), *slots[i].desc,
                                      operators::GraphValue::Producer{built.graph.nodes.size(), i}, false});
    }
    built.graph.nodes.push_back(std::move(put));
    built.origins.push_back(node.origin);
}

BuiltGraph GraphBuilder::finish(const std::vector<std::string>& outputs) {
    for (const std::string& value : outputs) {
        need(value);
    }
    // Models may have very many nodes, so what is no longer needed makes room for the graph.
    computed_ = {};
    value_names_ = {};
    node_names_ = {};
    BuiltGraph built;
    const auto needed = static_cast<std::size_t>(std::ranges::count(nodes_, true, &Node::needed));
    built.graph.nodes.reserve(needed);
    built.graph.values.reserve(needed);
    built.origins.reserve(needed);
    for (; !nodes_.empty(); nodes_.pop_front()) {
        if (nodes_.front().needed) {
            put_node(std::move(nodes_.front()), built);
        }
    }
    for (const std::string& value : outputs) {
        built.graph.outputs.push_back(indices_.at(value));
    }
    return built;
}

}  // namespace dmlconform::interop
