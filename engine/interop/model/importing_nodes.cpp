// Nodes in the order of the model: constants, aliases and expansions, and single operators.
#include "engine/interop/model/importing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/core/utf8.h"
#include "engine/interop/model/aliases.h"
#include "engine/interop/onnx_expansion.h"
#include "engine/interop/onnx_expansion_steps.h"
#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {
namespace {

/// Limit for the inputs of a node, and for its outputs.
constexpr int most_tensors = 4096;

bool has_too_many_tensors(const onnx::NodeProto& node) {
    return node.input.size() > most_tensors || node.output.size() > most_tensors;
}

/// Limit for nested functions, branches and expansions.
constexpr int most_depth = 32;

/// Limit; nested functions of a hostile model could expand almost without end.
constexpr std::size_t most_imported_nodes = 1'000'000;

/// Which nodes are needed to compute some values, and for each its first 64 inputs that no later node reads.
struct NeededNodes {
    std::vector<bool> are_needed;
    std::vector<std::uint64_t> last_reads;
};

constexpr std::size_t most_last_reads = 64;

/// `names` are the values to compute.
NeededNodes needed_nodes(const onnx::NodeList& nodes, std::unordered_set<std::string> names) {
    NeededNodes needed{std::vector<bool>(nodes.size()), std::vector<std::uint64_t>(nodes.size())};
    auto node = nodes.end();
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const auto& outputs = (--node)->output();
        if (std::ranges::none_of(outputs, [&](const auto& name) { return !name.empty() && names.contains(name); })) {
            continue;
        }
        needed.are_needed[i] = true;
        const auto& inputs = node->input();
        for (std::size_t input = 0; input < std::min(inputs.size(), most_last_reads); ++input) {
            needed.last_reads[i] |= std::uint64_t{names.contains(inputs[input]) ? 0U : 1U} << input;
        }
        add_reads(*node, names);
    }
    return needed;
}

}  // namespace

core::Result<void> Importer::import_nodes(const onnx::NodeList& nodes, std::unordered_set<std::string> outputs,
                                          Scope& scope, int depth) {
    const NeededNodes needed = needed_nodes(nodes, std::move(outputs));
    auto node = nodes.begin();
    for (std::size_t i = 0; i < needed.are_needed.size(); ++i) {
        if (needed.are_needed[i]) {
            if (auto done = import_node(*node, scope, depth, std::nullopt); !done) {
                return done;
            }
        }
        // Models may have very many nodes, so what nobody reads any more makes room.
        for (std::size_t input = 0; input < most_last_reads && needed.last_reads[i] >> input != 0; ++input) {
            if ((needed.last_reads[i] >> input & 1) != 0) {
                scope.forget(node->input(static_cast<int>(input)));
            }
        }
        if (&nodes == taken_nodes_) {
            memory_ -= onnx::memory_of_list_element<onnx::NodeProto> + onnx::memory_inside(*node);
            node = taken_nodes_->erase(node);
        } else {
            ++node;
        }
    }
    return {};
}

core::Result<void> Importer::import_node(const onnx::NodeProto& proto, Scope& scope, int depth,
                                         std::optional<std::size_t> origin) {
    if (++imported_ > most_imported_nodes) {
        return core::fail(fmt::format("the model has more than {} nodes", most_imported_nodes));
    }
    // A mapping may copy the node's attributes.
    constexpr std::uint64_t copies = 3;
    const bool has_body = std::ranges::any_of(proto.attribute(), [](const auto& one) { return one.g.has(); });
    if (auto fits = check_memory(has_body ? 0 : copies * onnx::memory_inside(proto)); !fits) {
        return fits;
    }
    if (depth > most_depth) {
        return core::fail(
            fmt::format("functions or branches of the model are nested in more than {} levels", most_depth));
    }
    const auto function = functions_.find({proto.domain(), proto.op_type()});
    if (function != functions_.end() && !has_too_many_tensors(proto)) {
        return import_function(proto, *function->second, scope, depth);
    }
    if (proto.op_type() == "If" && is_own_domain(proto.domain()) && !has_too_many_tensors(proto)) {
        if (const onnx::GraphProto* branch = chosen_branch(proto, scope)) {
            return import_branch(proto, *branch, scope, depth);
        }
    }
    if (!origin) {
        origin = add_node_of_model(
            {proto.name().empty() && proto.output.size() > 0 ? proto.output(0) : proto.name(), full_type(proto)});
    }
    auto done = import_operator(proto, scope, depth, *origin);
    if (!done) {
        cut(proto, done.error().message, scope, *origin);
    }
    return {};
}

core::Result<void> Importer::import_operator(const onnx::NodeProto& proto, Scope& scope, int depth,
                                             std::size_t origin) {
    if (proto.op_type() == "Constant" && attribute_of(proto, "value") != nullptr) {
        auto constant = constant_tensor(attribute_of(proto, "value")->t(), path_);
        if (!constant || proto.output.size() != 1) {
            return core::fail(constant ? "a Constant has one output" : constant.error().message);
        }
        set_constant(proto.output(0), std::move(*constant), scope);
        return {};
    }
    auto node = node_of(proto, scope);
    if (!node) {
        return tl::unexpected(node.error());
    }
    for (const std::size_t index : inputs_to_know(*node)) {
        if (!node->input(index)->has_elements()) {
            return core::fail(fmt::format("input {} is known only when the model runs", index + 1));
        }
    }
    if (node->type == expansion::two_of_each_byte && proto.input.size() == 1 && proto.output.size() == 1) {
        return set_pairs(proto, scope);
    }
    if (const auto alias = alias_of(*node)) {
        set_alias(proto, *alias, scope);
        return {};
    }
    const auto expansion = expansion_of(proto, node->opset, scope);
    if (!expansion) {
        return tl::unexpected(expansion.error());
    }
    if (!expansion->empty()) {
        return import_expansion(*expansion, scope, depth, origin);
    }
    return import_single(*node, proto, scope, origin);
}

core::Result<void> Importer::set_pairs(const onnx::NodeProto& proto, Scope& scope) {
    const auto bytes = scope.find(proto.input(0));
    if (!bytes || bytes->source == nullptr || bytes->tensor.type != core::DataType::uint8 ||
        bytes->tensor.count() > 0xffffffff) {
        return core::fail("its weights are no constant of UINT8");
    }
    const core::Dimensions sizes{static_cast<std::uint32_t>(bytes->tensor.count()), 2};
    auto pairs = unknown_tensor(core::DataType::uint4, sizes);
    if (!pairs) {
        return tl::unexpected(pairs.error());
    }
    pairs->elements = bytes->tensor.elements;
    set_constant(proto.output(0), {std::move(*pairs), bytes->source}, scope);
    return {};
}

void Importer::set_alias(const onnx::NodeProto& proto, const OnnxTensor& alias, Scope& scope) {
    const auto input = scope.find(proto.input(0));
    scope.set(proto.output(0), {alias, input->source, ""});
}

core::Result<std::vector<onnx::NodeProto>> Importer::expansion_of(const onnx::NodeProto& proto, std::int64_t opset,
                                                                  const Scope& scope) {
    std::shared_ptr<const NamedValue> held;
    const KnownTensor known = [&](const std::string& name) -> const OnnxTensor* {
        held = name.empty() ? nullptr : scope.find(name);
        return held == nullptr ? nullptr : &held->tensor;
    };
    auto nodes = expanded(proto, opset, ++expansions_, known);
    if (nodes && nodes->size() == 1 && nodes->front().op_type() == proto.op_type() &&
        nodes->front().domain() == proto.domain()) {
        nodes->clear();
    }
    return nodes;
}

core::Result<void> Importer::import_expansion(const std::vector<onnx::NodeProto>& nodes, Scope& scope, int depth,
                                              std::size_t origin) {
    const std::size_t cuts = cuts_.size();
    for (const onnx::NodeProto& node : nodes) {
        if (const auto done = import_node(node, scope, depth + 1, origin); !done) {
            return done;
        }
    }
    if (cuts_.size() != cuts) {
        // One part of the node is missing: the whole of it is. The parts behind the first one only lack what it
        // computes.
        std::string reason = fmt::format("{}: {}", cuts_[cuts].type, cuts_[cuts].cut.reason);
        cuts_.resize(cuts);
        return core::fail(std::move(reason));
    }
    return {};
}

core::Result<OnnxNode> Importer::node_of(const onnx::NodeProto& proto, const Scope& scope) {
    if (has_too_many_tensors(proto)) {
        return core::fail(fmt::format("it has more than {} inputs or outputs", most_tensors));
    }
    OnnxNode node;
    node.proto = &proto;
    node.type = full_type(proto);
    node.opset = scope.opset(proto.domain());
    std::uint64_t bytes = 0;
    for (const std::string& name : proto.input()) {
        const auto value = name.empty() ? nullptr : scope.find(name);
        if (name.empty()) {
            node.inputs.emplace_back();
        } else if (value == nullptr) {
            return core::fail(fmt::format("no node before it computes its input \"{}\"", core::shortened(name, 60)));
        } else if (!value->missing.empty()) {
            return core::fail(fmt::format("its input \"{}\" is missing: {}", core::shortened(name, 60),
                                          core::shortened(value->missing, 300)));
        } else if (bytes += value->tensor.elements.size(); !check_memory(bytes)) {
            return core::fail("the known elements of its inputs take too much memory");
        } else {
            node.inputs.emplace_back(value->tensor);
        }
    }
    while (!node.inputs.empty() && !node.inputs.back()) {
        node.inputs.pop_back();
    }
    node.drop_empty_lists();
    for (const std::string& name : proto.output()) {
        node.outputs.emplace_back(name.empty() ? std::nullopt : std::optional(OnnxTensor{}));
    }
    return node;
}

}  // namespace dmlconform::interop
