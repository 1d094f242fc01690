// Finds the nodes that the outputs need, then processes them in order.
#include "engine/interop/onnx_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "engine/cases/case_writer.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_case.h"
#include "engine/interop/onnx_expansion.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;

/// Limits for nodes that become cases, and for elements of all of them: larger case files are useless.
constexpr std::size_t most_nodes = 256;
constexpr std::size_t most_elements = std::size_t{1} << 23;

/// Limit for the elements of nodes in between.
constexpr std::size_t most_between_nodes = std::size_t{1} << 20;

/// Limit for inputs and outputs of a node together.
constexpr int most_tensors = 1024;

struct Value {
    OnnxTensor tensor;
    /// True if it does not depend on the data set.
    bool constant = false;
    /// True if the reference computed it, so that it is not bitwise ONNX's.
    bool computed = false;
};

struct Step {
    ordered_json object;
    std::string type;
    std::int64_t opset = 0;
    /// True if some input is neither from the data set nor from the model.
    bool computed_inputs = false;
};

class ModelReader {
public:
    ModelReader(const onnx::ModelProto& model, const FindTensor& find) : model_(model), find_(find) {
        for (const onnx::ValueInfoProto& input : model.graph().input()) {
            given_.insert(input.name());
        }
    }

    core::Result<std::vector<Step>> read() {
        for (const auto& done : {expand(), read_outputs()}) {
            if (!done) {
                return tl::unexpected(done.error());
            }
        }
        choose_needed();
        if (static_cast<std::size_t>(std::count(used_.begin(), used_.end(), true)) > most_nodes) {
            return core::fail(fmt::format("the model has more than {} nodes that it needs", most_nodes));
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (const auto done = used_[i] ? evaluate(nodes_[i]) : core::Result<void>(); !done) {
                return tl::unexpected(at_node(origins_[i], done.error()));
            }
        }
        return std::move(steps_);
    }

private:
    static bool is_own(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

    /// The opset of the node's domain.
    [[nodiscard]] std::int64_t opset_of(const onnx::NodeProto& node) const {
        std::int64_t version = 0;
        for (const onnx::OperatorSetIdProto& set : model_.opset_import()) {
            const bool same = is_own(node.domain()) ? is_own(set.domain()) : set.domain() == node.domain();
            version = same ? set.version() : version;
        }
        return version;
    }

    /// Adds the model's node to the error if there are several nodes.
    [[nodiscard]] core::Error at_node(int place, core::Error error) const {
        const onnx::GraphProto& graph = model_.graph();
        if (graph.node.size() > 1) {
            const std::string type = core::shortened(graph.node(place).op_type());
            error.message = fmt::format("node {} ({}): {}", place + 1, type, error.message);
        }
        return error;
    }

    core::Result<void> expand() {
        const onnx::GraphProto& graph = model_.graph();
        if (graph.node.size() == 0) {
            return core::fail("the model has 0 nodes");
        }
        const KnownTensor known = [&](const std::string& name) {
            const auto value = name.empty() ? core::fail("") : value_of(name);
            return value ? &(*value)->tensor : nullptr;
        };
        for (int i = 0; i < graph.node.size(); ++i) {
            auto nodes = expanded(graph.node(i), opset_of(graph.node(i)), static_cast<std::size_t>(i), known);
            if (!nodes) {
                return tl::unexpected(at_node(i, nodes.error()));
            }
            origins_.insert(origins_.end(), nodes->size(), i);
            std::move(nodes->begin(), nodes->end(), std::back_inserter(nodes_));
        }
        return {};
    }

    /// Outputs of the graph that nodes compute, which are then needed.
    core::Result<void> read_outputs() {
        std::set<std::string> computed;
        for (const onnx::NodeProto& node : nodes_) {
            computed.insert(node.output().begin(), node.output().end());
        }
        for (const onnx::ValueInfoProto& output : model_.graph().output()) {
            auto tensor = find_(output.name(), true);
            if (!tensor) {
                return tl::unexpected(tensor.error());
            }
            if (!computed.contains(output.name())) {
                return core::fail(fmt::format("no node computes \"{}\"", core::shortened(output.name())));
            }
            expected_.insert_or_assign(output.name(), std::move(*tensor));
            needed_.insert(output.name());
        }
        return expected_.empty() ? core::fail("the model has no outputs") : core::Result<void>();
    }

    /// True if all inputs only give the sizes of an output, which are known.
    [[nodiscard]] bool says_known_sizes(const onnx::NodeProto& node, int input) const {
        const int shape = node.op_type() == "ConstantOfShape"                         ? 0
                          : node.op_type() == "Reshape" || node.op_type() == "Expand" ? 1
                                                                                      : -1;
        return input == shape && node.output.size() == 1 && expected_.contains(node.output(0));
    }

    void choose_needed() {
        used_.assign(nodes_.size(), false);
        for (std::size_t i = nodes_.size(); i-- > 0;) {
            const auto& outputs = nodes_[i].output();
            used_[i] =
                std::any_of(outputs.begin(), outputs.end(), [&](const auto& name) { return needed_.contains(name); });
            for (int k = 0; used_[i] && k < nodes_[i].input.size(); ++k) {
                if (!nodes_[i].input(k).empty() && !says_known_sizes(nodes_[i], k)) {
                    needed_.insert(nodes_[i].input(k));
                }
            }
        }
    }

    /// A value that a node computed, or that the data set or the model contains.
    core::Result<const Value*> value_of(const std::string& name) {
        auto found = values_.find(name);
        if (found == values_.end()) {
            auto tensor = find_(name, false);
            if (!tensor) {
                return tl::unexpected(tensor.error());
            }
            found = values_.emplace(name, Value{std::move(*tensor), !given_.contains(name), false}).first;
        }
        return &found->second;
    }

    core::Result<void> hold(std::size_t elements) {
        elements_ += elements;
        return elements_ > most_elements
                   ? core::fail(fmt::format("its cases would have more than {} elements", most_elements))
                   : core::Result<void>();
    }

    core::Result<OnnxNode> with_inputs(const onnx::NodeProto& proto, Value& result) {
        OnnxNode node;
        node.proto = &proto;
        node.type = is_own(proto.domain()) ? proto.op_type() : fmt::format("{}.{}", proto.domain(), proto.op_type());
        node.opset = opset_of(proto);
        result.constant = true;
        for (int i = 0; i < proto.input.size(); ++i) {
            if (proto.input(i).empty() || says_known_sizes(proto, i)) {
                node.inputs.emplace_back();
                continue;
            }
            const auto value = value_of(proto.input(i));
            if (!value) {
                return tl::unexpected(value.error());
            }
            if (i == 0 && (*value)->tensor.count() == 0) {
                return core::fail("a tensor has size 0 in a dimension");
            }
            if (const auto held = hold((*value)->tensor.count()); !held) {
                return tl::unexpected(held.error());
            }
            node.inputs.emplace_back((*value)->tensor);
            result.constant = result.constant && (*value)->constant;
            result.computed = result.computed || (*value)->computed;
        }
        return node;
    }

    core::Result<void> evaluate(const onnx::NodeProto& proto) {
        if (proto.input.size() > most_tensors || proto.output.size() > most_tensors - proto.input.size()) {
            return core::fail(fmt::format("a node has more than {} inputs and outputs", most_tensors));
        }
        Value result;
        auto node = with_inputs(proto, result);
        if (!node) {
            return tl::unexpected(node.error());
        }
        if (std::any_of(proto.output().begin(), proto.output().end(),
                        [&](const auto& name) { return expected_.contains(name); })) {
            return compare_with_expected(std::move(*node), result.computed);
        }
        return compute(std::move(*node), std::move(result));
    }

    /// Like case_object. Each input may be broadcast to the size of the output.
    core::Result<ordered_json> object_of(const OnnxNode& node, bool may_narrow) {
        const std::size_t size = node.output(0) == nullptr ? 0 : node.output(0)->count();
        const auto held = hold(size * (node.inputs.size() + 1));
        return held ? case_object(node, may_narrow) : tl::unexpected(held.error());
    }

    /// Handles a node whose outputs are in the data set.
    core::Result<void> compare_with_expected(OnnxNode node, bool computed_inputs) {
        for (const std::string& name : node.proto->output()) {
            const auto found = expected_.find(name);
            if (found == expected_.end() && needed_.contains(name)) {
                return core::fail("some outputs of the node are the model's, and some are not");
            }
            node.outputs.push_back(found == expected_.end() ? std::nullopt : std::optional(found->second));
            if (found != expected_.end()) {
                // Other nodes read ONNX's own outputs.
                values_.insert_or_assign(name, Value{found->second, false, false});
            }
        }
        auto object = object_of(node, true);
        if (!object) {
            return tl::unexpected(object.error());
        }
        steps_.push_back({std::move(*object), node.type, node.opset, computed_inputs});
        return {};
    }

    /// Computes a node whose outputs other nodes read.
    core::Result<void> compute(OnnxNode node, Value result) {
        const std::string& name = node.proto->output(0);
        if (auto constant = constant_result(node)) {
            if (!*constant) {
                return tl::unexpected(constant->error());
            }
            values_.insert_or_assign(name, Value{std::move(**constant), true, false});
            return {};
        }
        for (int i = 1; i < node.proto->output.size(); ++i) {
            if (needed_.contains(node.proto->output(i))) {
                return core::fail("only the first output of a node can be computed for others");
            }
        }
        auto like = first_result(node);
        if (!like) {
            return tl::unexpected(like.error());
        }
        if (like->count() == 0 || like->count() > most_between_nodes) {
            return core::fail("a result between nodes has no elements, or too many");
        }
        node.outputs.emplace_back(std::move(*like));
        auto object = object_of(node, false);
        auto tensor = object ? computed_output(*object, *node.output(0)) : tl::unexpected(object.error());
        if (!tensor) {
            return tl::unexpected(tensor.error());
        }
        if (!result.constant) {
            steps_.push_back({std::move(*object), node.type, node.opset, result.computed});
        }
        values_.insert_or_assign(name, Value{std::move(*tensor), result.constant, true});
        return {};
    }

    const onnx::ModelProto& model_;
    const FindTensor& find_;
    /// The graph's inputs.
    std::set<std::string> given_;
    std::vector<onnx::NodeProto> nodes_;
    /// For each node, the index of the model's node that it comes from.
    std::vector<int> origins_;
    std::vector<bool> used_;
    std::set<std::string> needed_;
    std::map<std::string, OnnxTensor> expected_;
    std::map<std::string, Value> values_;
    std::size_t elements_ = 0;
    std::vector<Step> steps_;
};

}  // namespace

core::Result<std::vector<ordered_json>> model_cases(const onnx::ModelProto& model, const std::string& name,
                                                    const FindTensor& find) {
    auto steps = ModelReader(model, find).read();
    if (!steps) {
        return tl::unexpected(steps.error());
    }
    std::vector<ordered_json> cases;
    for (std::size_t i = 0; i < steps->size(); ++i) {
        Step& step = (*steps)[i];
        std::string description = fmt::format("ONNX {}, opset {}", core::shortened(step.type), step.opset);
        std::string case_name = name;
        if (steps->size() > 1) {
            description += fmt::format(", step {} of {}", i + 1, steps->size());
            case_name += fmt::format("/{}-{}", i + 1, cases::case_name("onnx/" + core::shortened(step.type, 40)));
        }
        cases.push_back(completed(std::move(step.object), case_name, description, step.computed_inputs));
    }
    return cases;
}

}  // namespace dmlconform::interop
