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
#include "engine/interop/onnx_moved_outputs.h"
#include "engine/interop/onnx_node.h"
#include "engine/interop/onnx_unrolling.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;

/// Limits for nodes that become cases, and for elements of all of them: larger case files are useless.
constexpr std::size_t most_nodes = 1024;
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
    ModelReader(const onnx::ModelProto& model, const FindTensor& find, const FindSequence& find_sequence)
        : model_(model), find_(find), find_sequence_(find_sequence) {
        for (const onnx::ValueInfoProto& input : model.graph().input()) {
            given_.insert(input.name());
        }
    }

    core::Result<std::vector<Step>> read() {
        if (model_.graph().node.size() == 0) {
            return core::fail("the model has 0 nodes");
        }
        if (auto done = read_outputs(); !done) {
            return tl::unexpected(std::move(done.error()));
        }
        if (auto done = unroll(); !done) {
            return tl::unexpected(std::move(done.error()));
        }
        for (const auto& [name, tensor] : expected_) {
            needed_.insert(name);
        }
        moved_outputs_ = MovedOutputs(nodes_, expected_);
        choose_needed();
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (const auto done = used_[i] ? evaluate(i) : core::Result<void>(); !done) {
                return tl::unexpected(done.error());
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
    [[nodiscard]] core::Error at_node(int node, core::Error error) const {
        const onnx::GraphProto& graph = model_.graph();
        if (graph.node.size() > 1) {
            const std::string type = core::shortened(graph.node(node).op_type());
            error.message = fmt::format("node {} ({}): {}", node + 1, type, error.message);
        }
        return error;
    }

    /// Tensors that the data set and the model have.
    const OnnxTensor* given_tensor(const std::string& name) {
        const auto value = name.empty() ? core::fail("") : value_of(name);
        return value ? &(*value)->tensor : nullptr;
    }

    /// The same, and tensors that nodes compute from these: the reference computes them.
    const OnnxTensor* computed_tensor(const std::string& name) {
        if (!values_.contains(name) && !compute_for(name)) {
            return nullptr;
        }
        return given_tensor(name);
    }

    /// Evaluates the nodes that a tensor depends on.
    core::Result<void> compute_for(const std::string& name) {
        std::set<std::string> wanted{name};
        std::vector<std::size_t> indices;
        for (std::size_t i = nodes_.size(); i-- > 0;) {
            const auto& outputs = nodes_[i].output();
            if (std::ranges::any_of(outputs, [&](const auto& output) { return wanted.contains(output); })) {
                indices.push_back(i);
                wanted.insert(nodes_[i].input().begin(), nodes_[i].input().end());
            }
        }
        for (std::size_t i = indices.size(); i-- > 0;) {
            if (auto done = evaluate(indices[i]); !done) {
                return done;
            }
        }
        return {};
    }

    /// Fills the nodes: those of the model without control flow and sequences, each expanded.
    core::Result<void> unroll() {
        const onnx::GraphProto& graph = model_.graph();
        const KnownTensor known = [&](const std::string& name) { return given_tensor(name); };
        onnx::NodeProto standard;
        std::size_t number = 0;
        const auto add = [&](const onnx::NodeProto& node) -> core::Result<void> {
            auto nodes = expanded(node, opset_of(node), number++, known);
            if (!nodes) {
                return tl::unexpected(std::move(nodes.error()));
            }
            origins_.insert(origins_.end(), nodes->size(), origin_);
            evaluated_.insert(evaluated_.end(), nodes->size(), false);
            std::move(nodes->begin(), nodes->end(), std::back_inserter(nodes_));
            return {};
        };
        Unroller unroller(
            opset_of(standard), [&](const std::string& name) { return computed_tensor(name); }, add);
        read_sequences(unroller);
        for (const onnx::NodeProto& node : graph.node()) {
            if (auto done = unroller.run(node); !done) {
                return tl::unexpected(at_node(origin_, std::move(done.error())));
            }
            ++origin_;
        }
        origin_ = graph.node.size() - 1;
        for (const onnx::ValueInfoProto& output : graph.output()) {
            if (auto done = add_copies(output.name(), unroller.find(output.name()), add); !done) {
                return done;
            }
        }
        return {};
    }

    static bool is_tensor(const onnx::ValueInfoProto& value) {
        return !value.type.has() || value.type().tensor_type.has();
    }

    static std::string tensor_of_sequence(const std::string& name, std::size_t index) {
        return fmt::format("{}#{}", name, index);
    }

    /// Sets the inputs that are sequences or optional values. A node that reads one that cannot be read fails.
    void read_sequences(Unroller& unroller) {
        for (const onnx::ValueInfoProto& input : model_.graph().input()) {
            auto sequence = is_tensor(input) ? core::fail("") : find_sequence_(input.name(), false);
            if (!sequence) {
                continue;
            }
            UnrolledValue value{sequence->is_sequence, sequence->has_value, {}};
            for (OnnxTensor& tensor : sequence->tensors) {
                value.tensors.push_back(tensor_of_sequence(input.name(), value.tensors.size()));
                values_.insert_or_assign(value.tensors.back(), Value{std::move(tensor), false, false});
            }
            unroller.set(input.name(), std::move(value));
        }
    }

    /// Copies what an output of the graph stands for to tensors of its own, if it is not a node's output.
    template <class Add>
    core::Result<void> add_copies(const std::string& name, const UnrolledValue& value, const Add& add) {
        const auto sequence = expected_sequences_.find(name);
        const bool is_sequence = sequence != expected_sequences_.end();
        const std::size_t count = is_sequence ? sequence->second : 1;
        if (value.tensors.size() != count) {
            return core::fail(fmt::format("\"{}\" has {} tensors, the data set {}", core::shortened(name),
                                          value.tensors.size(), count));
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::string own = is_sequence ? tensor_of_sequence(name, i) : name;
            if (value.tensors[i] == own) {
                const bool is_computed = std::ranges::any_of(nodes_, [&](const onnx::NodeProto& node) {
                    return std::ranges::find(node.output(), own) != node.output().end();
                });
                if (!is_computed) {
                    return core::fail(fmt::format("no node computes \"{}\"", core::shortened(name)));
                }
                continue;
            }
            onnx::NodeProto copy;
            copy.op_type.set("Identity");
            copy.input.add(value.tensors[i]);
            copy.output.add(own);
            if (auto done = add(copy); !done) {
                return done;
            }
        }
        return {};
    }

    /// Reads the expected values of the graph's outputs.
    core::Result<void> read_outputs() {
        for (const onnx::ValueInfoProto& output : model_.graph().output()) {
            if (is_tensor(output)) {
                auto tensor = find_(output.name(), true);
                if (!tensor) {
                    return tl::unexpected(std::move(tensor.error()));
                }
                expected_.insert_or_assign(output.name(), std::move(*tensor));
                continue;
            }
            auto sequence = find_sequence_(output.name(), true);
            if (!sequence) {
                return tl::unexpected(std::move(sequence.error()));
            }
            expected_sequences_.insert_or_assign(output.name(), sequence->tensors.size());
            for (std::size_t i = 0; i < sequence->tensors.size(); ++i) {
                expected_.insert_or_assign(tensor_of_sequence(output.name(), i), std::move(sequence->tensors[i]));
            }
        }
        return expected_.empty() ? core::fail("the model has no outputs with elements") : core::Result<void>();
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
        node.drop_empty_lists();
        return node;
    }

    core::Result<void> evaluate(std::size_t index) {
        if (evaluated_[index]) {
            return {};
        }
        evaluated_[index] = true;
        if (++evaluations_ > most_nodes) {
            return core::fail(fmt::format("the model has more than {} nodes that it needs", most_nodes));
        }
        auto done = evaluate_node(nodes_[index]);
        return done ? done : tl::unexpected(at_node(origins_[index], std::move(done.error())));
    }

    core::Result<void> evaluate_node(const onnx::NodeProto& proto) {
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
        return add_step(node, computed_inputs);
    }

    core::Result<void> add_step(const OnnxNode& node, bool computed_inputs) {
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
        if (auto expected = result.constant ? std::nullopt : moved_outputs_.expected_of(name, *like)) {
            node.outputs.emplace_back(*expected);
            values_.insert_or_assign(name, Value{std::move(*expected), false, false});
            return add_step(node, result.computed);
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
    const FindSequence& find_sequence_;
    /// The graph's inputs.
    std::set<std::string> given_;
    std::vector<onnx::NodeProto> nodes_;
    /// For each node, the index of the model's node that it comes from.
    std::vector<int> origins_;
    /// The index of the model's node that is being unrolled.
    int origin_ = 0;
    std::vector<bool> used_;
    std::vector<bool> evaluated_;
    std::size_t evaluations_ = 0;
    std::set<std::string> needed_;
    std::map<std::string, OnnxTensor> expected_;
    MovedOutputs moved_outputs_;
    /// The number of tensors of outputs that are sequences or optional values.
    std::map<std::string, std::size_t> expected_sequences_;
    std::map<std::string, Value> values_;
    std::size_t elements_ = 0;
    std::vector<Step> steps_;
};

}  // namespace

core::Result<std::vector<ordered_json>> model_cases(const onnx::ModelProto& model, const std::string& name,
                                                    const FindTensor& find, const FindSequence& find_sequence) {
    auto steps = ModelReader(model, find, find_sequence).read();
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
