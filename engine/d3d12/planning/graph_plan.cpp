// Combines the plans of a graph's nodes: values become inputs, outputs or temporaries of the whole plan.
#include "engine/d3d12/planning/graph_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/d3d12/planning/parts_plan.h"

namespace dmlconform::d3d12 {
namespace {

using operators::Graph;
using operators::GraphNode;
using operators::no_value;
using operators::TensorSlot;
using operators::ValueIndex;

/// How a graph's values are used.
struct Uses {
    /// For each value, the descriptor that extends furthest in memory.
    std::vector<const core::TensorDesc*> widest;
    /// How often each value is read, including as an output of the graph.
    std::vector<std::size_t> readers;

    explicit Uses(const Graph& graph) : widest(graph.values.size()), readers(graph.values.size()) {
        for (std::size_t v = 0; v < graph.values.size(); ++v) {
            widest[v] = &graph.values[v].desc;
        }
        for (const GraphNode& node : graph.nodes) {
            see(node.inputs, node.descriptor->inputs());
            see(node.outputs, node.descriptor->outputs());
            for (const ValueIndex value : node.inputs) {
                readers[value == no_value ? 0 : value] += value == no_value ? 0 : 1;
            }
        }
        for (const ValueIndex value : graph.outputs) {
            ++readers[value];
        }
    }

private:
    void see(const std::vector<ValueIndex>& values, const std::vector<TensorSlot>& slots) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (values[i] != no_value && slots[i].desc != nullptr &&
                device_bytes(*slots[i].desc) > device_bytes(*widest[values[i]])) {
                widest[values[i]] = slots[i].desc;
            }
        }
    }
};

class GraphPlanner {
public:
    GraphPlanner(const Addressable& most, const Graph& graph)
        : most_(most), graph_(graph), uses_(graph), values_(graph.values.size()) {
        plan_.plan.shares_memory = true;
        for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
            values_[graph.inputs[i]] = input(i);
            plan_.inputs.push_back(uses_.widest[graph.inputs[i]]);
        }
        for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
            values_[graph.outputs[o]] = output(o);
            plan_.outputs.push_back(uses_.widest[graph.outputs[o]]);
        }
    }

    core::Result<GraphPlan> plan() && {
        plan_.order = graph_.execution_order();
        for (const std::size_t n : plan_.order) {
            const GraphNode& node = graph_.nodes[n];
            const Binding& binding = *find_binding(node.descriptor->schema->short_name());
            auto own = plan_within(most_, binding, *node.descriptor);
            if (!own) {
                return core::fail(
                    fmt::format("node {}: the work cannot be cut into parts that shaders address", node.name));
            }
            append(std::move(*own), tensors_of_node(node), node.inputs.size());
            plan_.ends.push_back(plan_.plan.dispatches.size());
        }
        return std::move(plan_);
    }

private:
    /// The buffers of a node's tensors: its inputs, then its outputs.
    std::vector<BufferRef> tensors_of_node(const GraphNode& node) {
        std::vector<BufferRef> tensors;
        for (const ValueIndex value : node.inputs) {
            tensors.push_back(value == no_value ? BufferRef{} : *values_[value]);
        }
        const std::vector<TensorSlot> slots = node.descriptor->outputs();
        for (std::size_t o = 0; o < slots.size(); ++o) {
            const ValueIndex value = node.outputs[o];
            if (slots[o].desc == nullptr) {
                tensors.emplace_back();
            } else if (value == no_value) {
                tensors.push_back(add_temporary(device_bytes(*slots[o].desc)));
            } else {
                if (!values_[value]) {
                    const auto shared = shared_input(node, o);
                    values_[value] = shared ? *values_[*shared] : add_temporary(device_bytes(*uses_.widest[value]));
                }
                tensors.push_back(*values_[value]);
            }
        }
        return tensors;
    }

    /// The input in whose memory an output is computed in place, if nothing else needs that input. Otherwise the output
    /// has memory of its own, which gives the same result. The input is as large as what is written, and readers of the
    /// output see nothing else.
    [[nodiscard]] std::optional<ValueIndex> shared_input(const GraphNode& node, std::size_t o) const {
        const auto& in_place = node.descriptor->in_place;
        if (o >= in_place.size() || !in_place[o]) {
            return std::nullopt;
        }
        const ValueIndex value = node.inputs[*in_place[o]];
        const bool is_own =
            value != no_value && uses_.readers[value] == 1 && values_[value]->kind == BufferRef::Kind::temporary;
        return is_own ? std::optional(value) : std::nullopt;
    }

    BufferRef add_temporary(std::uint64_t bytes) {
        plan_.plan.temporaries.push_back(bytes);
        return temporary(plan_.plan.temporaries.size() - 1);
    }

    void append(DispatchPlan own, const std::vector<BufferRef>& tensors, std::size_t inputs) {
        const std::size_t first_temporary = plan_.plan.temporaries.size();
        plan_.plan.temporaries.insert(plan_.plan.temporaries.end(), own.temporaries.begin(), own.temporaries.end());
        for (const std::size_t t : own.zeroed) {
            plan_.plan.zeroed.push_back(first_temporary + t);
        }
        for (Dispatch& dispatch : own.dispatches) {
            for (BufferRef& ref : dispatch.buffers) {
                ref = in_graph(ref, tensors, inputs, first_temporary);
            }
            plan_.plan.dispatches.push_back(std::move(dispatch));
        }
    }

    static BufferRef in_graph(const BufferRef& ref, const std::vector<BufferRef>& tensors, std::size_t inputs,
                              std::size_t first_temporary) {
        BufferRef result = ref;
        if (ref.kind == BufferRef::Kind::temporary) {
            result.index += first_temporary;
        } else if (ref.kind != BufferRef::Kind::absent) {
            const bool is_input = ref.kind == BufferRef::Kind::input;
            const BufferRef& tensor = tensors[is_input ? ref.index : inputs + ref.index];
            result.kind = tensor.kind;
            result.index = tensor.index;
            result.is_read_only = is_input;
        }
        return result;
    }

    const Addressable& most_;
    const Graph& graph_;
    Uses uses_;
    /// The buffer of each value, if it is known already.
    std::vector<std::optional<BufferRef>> values_;
    GraphPlan plan_;
};

}  // namespace

core::Result<GraphPlan> plan_graph(const Addressable& most, const operators::Graph& graph) {
    return GraphPlanner(most, graph).plan();
}

}  // namespace dmlconform::d3d12
