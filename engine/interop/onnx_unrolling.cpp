// Runs the bodies of control flow, node by node.
#include "engine/interop/onnx_unrolling.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "engine/core/utf8.h"
#include "engine/interop/model/node_access.h"

namespace dmlconform::interop {
namespace {

using unrolling::Steps;
using unrolling::Values;

/// Limit for bodies inside bodies.
constexpr int most_unrolled_depth = 16;

/// The names of a graph or of a body.
struct UnrolledScope {
    const UnrolledScope* outer = nullptr;
    /// 0 for the graph itself. Tensors of bodies get names with this number.
    std::size_t number = 0;
    std::map<std::string, UnrolledValue> values = {};
};

UnrolledValue find_in(const UnrolledScope& scope, const std::string& name) {
    for (const UnrolledScope* at = &scope; at != nullptr; at = at->outer) {
        if (const auto found = at->values.find(name); found != at->values.end()) {
            return found->second;
        }
    }
    return {false, !name.empty(), {name}};
}

std::vector<std::int64_t> list_of(const onnx::NodeProto& node, std::string_view name, std::size_t count) {
    const onnx::AttributeProto* found = attribute_of(node, name);
    std::vector<std::int64_t> values = found == nullptr ? std::vector<std::int64_t>() : found->ints();
    values.resize(count, 0);
    return values;
}

}  // namespace

class Unroller::Graph {
public:
    Graph(std::int64_t opset, KnownTensor known, unrolling::AddNode add)
        : steps_(opset, std::move(known), std::move(add)) {}

    UnrolledScope graph;

    core::Result<void> run(const onnx::NodeProto& node, UnrolledScope& scope, int depth) {
        Values inputs;
        for (const std::string& name : node.input()) {
            inputs.push_back(find_in(scope, name));
        }
        auto results = results_of(node, inputs, scope, depth);
        if (!results) {
            return run_plain(node, inputs, scope);
        }
        if (!*results) {
            return tl::unexpected((*results).error());
        }
        if (static_cast<std::size_t>(node.output.size()) > (*results)->size()) {
            return core::fail(fmt::format("{} has more outputs than results", core::shortened(node.op_type())));
        }
        for (int i = 0; i < node.output.size(); ++i) {
            scope.values.insert_or_assign(node.output(i), std::move((**results)[static_cast<std::size_t>(i)]));
        }
        return {};
    }

private:
    /// Empty for a node that stays.
    std::optional<core::Result<Values>> results_of(const onnx::NodeProto& node, const Values& inputs,
                                                   const UnrolledScope& scope, int depth) {
        if (!node.domain().empty() && node.domain() != "ai.onnx") {
            return std::nullopt;
        }
        const std::string& type = node.op_type();
        if (type == "If") {
            return run_if(node, inputs, scope, depth);
        }
        if (type == "Loop") {
            return run_loop(node, inputs, scope, depth);
        }
        if (type == "Scan") {
            return run_scan(node, inputs, scope, depth);
        }
        if (type == "SequenceMap") {
            return run_map(node, inputs, scope, depth);
        }
        const bool is_tensor = inputs.size() == 1 && !inputs[0].is_sequence && inputs[0].has_value;
        if (type == "Identity" && inputs.size() == 1 && (depth > 0 || !is_tensor)) {
            return core::Result<Values>(inputs);
        }
        return unrolling::sequence_results(node, inputs, steps_);
    }

    /// A node of tensors, with the names that its tensors have outside of the body.
    core::Result<void> run_plain(const onnx::NodeProto& node, const Values& inputs, UnrolledScope& scope) {
        onnx::NodeProto plain = node;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (inputs[i].is_sequence || inputs[i].tensors.size() != 1) {
                return core::fail(fmt::format("{} of a sequence or of an empty optional value has no counterpart",
                                              core::shortened(node.op_type())));
            }
            plain.input.edit(static_cast<int>(i)) = inputs[i].tensors.front();
        }
        for (std::string& name : plain.output.edit()) {
            if (scope.number != 0 && !name.empty()) {
                const std::string inner = std::exchange(name, fmt::format("#body{}.{}", scope.number, name));
                scope.values.insert_or_assign(inner, UnrolledValue{false, true, {name}});
            }
        }
        return scope.number == 0 ? steps_.keep(std::move(plain)) : steps_.add(std::move(plain));
    }

    core::Result<Values> run_body(const onnx::NodeProto& node, std::string_view name, Values inputs,
                                  const UnrolledScope& outer, int depth) {
        const onnx::AttributeProto* body = attribute_of(node, name);
        if (body == nullptr || static_cast<std::size_t>(body->g().input.size()) != inputs.size()) {
            return core::fail(fmt::format("{} has no {}, or one with another number of inputs",
                                          core::shortened(node.op_type()), name));
        }
        if (depth >= most_unrolled_depth) {
            return core::fail(fmt::format("bodies are nested in more than {} levels", most_unrolled_depth));
        }
        UnrolledScope scope{&outer, ++bodies_};
        for (int i = 0; i < body->g().input.size(); ++i) {
            scope.values.insert_or_assign(body->g().input(i).name(), std::move(inputs[static_cast<std::size_t>(i)]));
        }
        for (const onnx::TensorProto& initialiser : body->g().initializer()) {
            onnx::AttributeProto value;
            value.name.set("value");
            value.t.edit() = initialiser;
            auto constant = steps_.add("Constant", {}, {std::move(value)});
            if (!constant) {
                return tl::unexpected(std::move(constant.error()));
            }
            scope.values.insert_or_assign(initialiser.name(), std::move(*constant));
        }
        for (const onnx::NodeProto& inner : body->g().node()) {
            if (auto done = run(inner, scope, depth + 1); !done) {
                return tl::unexpected(std::move(done.error()));
            }
        }
        Values outputs;
        for (const onnx::ValueInfoProto& output : body->g().output()) {
            outputs.push_back(find_in(scope, output.name()));
        }
        return outputs;
    }

    core::Result<Values> run_if(const onnx::NodeProto& node, const Values& inputs, const UnrolledScope& scope,
                                int depth) {
        const auto condition = inputs.size() == 1 ? steps_.known_integer(inputs[0]) : core::fail("If has no condition");
        return condition ? run_body(node, *condition != 0 ? "then_branch" : "else_branch", {}, scope, depth)
                         : tl::unexpected(condition.error());
    }

    core::Result<Values> run_loop(const onnx::NodeProto& node, const Values& inputs, const UnrolledScope& scope,
                                  int depth) {
        if (inputs.size() < 2) {
            return core::fail("Loop has no trip count and condition");
        }
        auto trips = inputs[0].has_value ? steps_.known_integer(inputs[0])
                                         : core::Result<std::int64_t>(std::numeric_limits<std::int64_t>::max());
        auto condition = inputs[1].has_value ? core::Result<UnrolledValue>(inputs[1]) : steps_.truth(true);
        Values carried(inputs.begin() + 2, inputs.end());
        std::vector<std::vector<std::string>> collected(
            static_cast<std::size_t>(std::max(0, node.output.size() - static_cast<int>(carried.size()))));
        for (std::int64_t trip = 0; trips && condition && trip < *trips; ++trip) {
            const auto goes_on = steps_.known_integer(*condition);
            if (!goes_on) {
                return tl::unexpected(goes_on.error());
            }
            if (*goes_on == 0) {
                break;
            }
            auto number = steps_.number(trip);
            if (!number) {
                return tl::unexpected(number.error());
            }
            Values given{*number, *condition};
            given.insert(given.end(), carried.begin(), carried.end());
            auto outputs = run_body(node, "body", std::move(given), scope, depth);
            if (!outputs || outputs->size() < 1 + carried.size() + collected.size()) {
                return outputs ? core::fail("the body of Loop has too few outputs") : outputs;
            }
            condition = outputs->front();
            std::move(outputs->begin() + 1, outputs->begin() + 1 + static_cast<std::ptrdiff_t>(carried.size()),
                      carried.begin());
            if (auto done = collect(*outputs, 1 + carried.size(), collected); !done) {
                return tl::unexpected(done.error());
            }
        }
        if (!trips || !condition) {
            return tl::unexpected(trips ? condition.error() : trips.error());
        }
        return with_collected(std::move(carried), collected, {});
    }

    /// Appends a step's tensors, from output `first` on.
    static core::Result<void> collect(const Values& outputs, std::size_t first,
                                      std::vector<std::vector<std::string>>& collected) {
        for (std::size_t i = 0; i < collected.size(); ++i) {
            const UnrolledValue& output = outputs[first + i];
            if (output.is_sequence || output.tensors.size() != 1) {
                return core::fail("a result of each step is not a tensor");
            }
            collected[i].push_back(output.tensors.front());
        }
        return {};
    }

    /// The values, and after them the collected tensors along new axes, 0 where `axes` ends.
    core::Result<Values> with_collected(Values values, const std::vector<std::vector<std::string>>& collected,
                                        const std::vector<std::int64_t>& axes) {
        for (std::size_t i = 0; i < collected.size(); ++i) {
            auto joined = steps_.joined(collected[i], i < axes.size() ? axes[i] : 0, true);
            if (!joined) {
                return tl::unexpected(std::move(joined.error()));
            }
            values.push_back(std::move(*joined));
        }
        return values;
    }

    /// One scan: `values` are the states and what is scanned, along `axes`, of which some run backwards.
    core::Result<Values> scan(const onnx::NodeProto& node, Values values, std::size_t states,
                              const std::vector<std::int64_t>& axes, const UnrolledScope& scope, int depth) {
        const std::size_t scanned = values.size() - states;
        const auto backwards = list_of(node, "scan_input_directions", scanned);
        const auto results = static_cast<std::size_t>(std::max(0, node.output.size() - static_cast<int>(states)));
        const auto reversed = list_of(node, "scan_output_directions", results);
        std::vector<std::vector<std::string>> collected(results);
        Values carried(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(states));
        const auto length = steps_.known_size(values[states], axes[0]);
        for (std::int64_t step = 0; length && step < *length; ++step) {
            Values given = carried;
            for (std::size_t i = 0; i < scanned; ++i) {
                auto part = steps_.picked(values[states + i], axes[i], backwards[i] != 0 ? *length - 1 - step : step);
                if (!part) {
                    return tl::unexpected(std::move(part.error()));
                }
                given.push_back(std::move(*part));
            }
            auto outputs = run_body(node, "body", std::move(given), scope, depth);
            if (!outputs || outputs->size() < states + results) {
                return outputs ? core::fail("the body of Scan has too few outputs") : outputs;
            }
            std::move(outputs->begin(), outputs->begin() + static_cast<std::ptrdiff_t>(states), carried.begin());
            if (auto done = collect(*outputs, states, collected); !done) {
                return tl::unexpected(done.error());
            }
        }
        for (std::size_t i = 0; i < results; ++i) {
            if (reversed[i] != 0) {
                std::ranges::reverse(collected[i]);
            }
        }
        return length ? with_collected(std::move(carried), collected, list_of(node, "scan_output_axes", results))
                      : tl::unexpected(length.error());
    }

    core::Result<Values> run_scan(const onnx::NodeProto& node, Values inputs, const UnrolledScope& scope, int depth) {
        const bool has_batches = steps_.opset() < 9;
        if (has_batches) {
            // The lengths of the sequences come first.
            if (inputs.empty() || inputs[0].has_value) {
                return core::fail("Scan with lengths of sequences is not mapped");
            }
            inputs.erase(inputs.begin());
        }
        const std::int64_t scanned = unrolling::integer(node, "num_scan_inputs", 0);
        if (scanned < 1 || static_cast<std::size_t>(scanned) > inputs.size()) {
            return core::fail("Scan has fewer inputs than num_scan_inputs says");
        }
        const std::size_t states = inputs.size() - static_cast<std::size_t>(scanned);
        const auto axes = list_of(node, "scan_input_axes", static_cast<std::size_t>(scanned));
        return has_batches ? scan_batches(node, inputs, states, axes, scope, depth)
                           : scan(node, std::move(inputs), states, axes, scope, depth);
    }

    /// Opset 8: each tensor's first dimension has batches, which are scanned one after the other.
    core::Result<Values> scan_batches(const onnx::NodeProto& node, const Values& inputs, std::size_t states,
                                      const std::vector<std::int64_t>& axes, const UnrolledScope& scope, int depth) {
        const auto batches = steps_.known_size(inputs.back(), 0);
        std::vector<std::vector<std::string>> collected(static_cast<std::size_t>(node.output.size()));
        for (std::int64_t batch = 0; batches && batch < *batches; ++batch) {
            Values given;
            for (const UnrolledValue& input : inputs) {
                auto part = steps_.picked(input, 0, batch);
                if (!part) {
                    return tl::unexpected(std::move(part.error()));
                }
                given.push_back(std::move(*part));
            }
            auto outputs = scan(node, std::move(given), states, axes, scope, depth);
            if (!outputs || outputs->size() < collected.size()) {
                return outputs ? core::fail("Scan has more outputs than its body") : outputs;
            }
            if (auto done = collect(*outputs, 0, collected); !done) {
                return tl::unexpected(done.error());
            }
        }
        return batches ? with_collected({}, collected, {}) : tl::unexpected(batches.error());
    }

    core::Result<Values> run_map(const onnx::NodeProto& node, const Values& inputs, const UnrolledScope& scope,
                                 int depth) {
        if (inputs.empty() || !inputs[0].is_sequence) {
            return core::fail("SequenceMap needs a sequence");
        }
        const std::size_t length = inputs[0].tensors.size();
        Values results(static_cast<std::size_t>(node.output.size()), UnrolledValue{true, true, {}});
        for (std::size_t i = 0; i < length; ++i) {
            Values given;
            for (const UnrolledValue& input : inputs) {
                if (input.is_sequence && input.tensors.size() != length) {
                    return core::fail("SequenceMap has sequences of several lengths");
                }
                given.push_back(input.is_sequence ? UnrolledValue{false, true, {input.tensors[i]}} : input);
            }
            auto outputs = run_body(node, "body", std::move(given), scope, depth);
            if (!outputs || outputs->size() < results.size()) {
                return outputs ? core::fail("the body of SequenceMap has too few outputs") : outputs;
            }
            for (std::size_t k = 0; k < results.size(); ++k) {
                if ((*outputs)[k].is_sequence || (*outputs)[k].tensors.size() != 1) {
                    return core::fail("a result of each step is not a tensor");
                }
                results[k].tensors.push_back((*outputs)[k].tensors.front());
            }
        }
        return results;
    }

    Steps steps_;
    std::size_t bodies_ = 0;
};

Unroller::Unroller(std::int64_t opset, KnownTensor known, unrolling::AddNode add)
    : graph_(std::make_unique<Graph>(opset, std::move(known), std::move(add))) {}

Unroller::~Unroller() = default;

void Unroller::set(const std::string& name, UnrolledValue value) {
    graph_->graph.values.insert_or_assign(name, std::move(value));
}

core::Result<void> Unroller::run(const onnx::NodeProto& node) {
    return graph_->run(node, graph_->graph, 0);
}

UnrolledValue Unroller::find(const std::string& name) const {
    return find_in(graph_->graph, name);
}

std::vector<ExpandedOperator> unrolled_operators() {
    std::vector<ExpandedOperator> all{{"If", "in node tests: the nodes of its branch, if the condition is known"},
                                      {"Loop", "in node tests: the nodes of each trip, if the conditions are known"},
                                      {"Scan", "in node tests: the nodes of each step, and GATHER of what they read"},
                                      {"SequenceMap", "in node tests: the nodes for each tensor of the sequence"}};
    for (const std::string_view type : unrolling::sequence_operators()) {
        all.push_back({std::string(type), "in node tests: the tensors that it chooses"});
    }
    return all;
}

}  // namespace dmlconform::interop
