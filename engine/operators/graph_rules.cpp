// The rules of graphs, measured on DirectML 1.15.4 unless a rule says otherwise: see docs/graphs.md.
#include "engine/operators/graph_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace dmlconform::operators {
namespace {

constexpr std::array<std::string_view, 11> graph_rules{"graph.empty",      "graph.binding",    "graph.producer",
                                                       "graph.cycle",      "graph.unusedNode", "graph.unreadInput",
                                                       "graph.edgeBytes",  "graph.edgeSize",   "graph.ownedValue",
                                                       "graph.ownedInput", "graph.output"};

std::uint64_t bytes_of_elements(const core::TensorDesc& desc, std::uint64_t elements) {
    return (elements * core::bits_of(desc.data_type) + 7) / 8;
}

/// Marks the 4-bit units of a tensor's memory that belong to an element.
std::vector<bool> addressed_nibbles(const core::TensorDesc& desc) {
    const auto nibbles = static_cast<std::size_t>(core::bits_of(desc.data_type) / 4);
    std::vector<bool> used(static_cast<std::size_t>(*core::addressed_extent(desc)) * nibbles);
    const auto strides = core::effective_strides(desc);
    std::vector<std::uint32_t> at(desc.sizes.size());
    for (;;) {
        std::uint64_t offset = 0;
        for (std::size_t d = 0; d < at.size(); ++d) {
            offset += at[d] * strides[d];
        }
        std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(offset * nibbles), nibbles, true);
        std::size_t d = at.size();
        while (d > 0 && ++at[d - 1] == desc.sizes[d - 1]) {
            at[--d] = 0;
        }
        if (d == 0) {
            return used;
        }
    }
}

/// True if a reader addresses only bytes that the producer writes. Other bytes are undefined.
bool reads_only_what_is_written(const core::TensorDesc& written, const core::TensorDesc& read) {
    const std::uint64_t end = bytes_of_elements(read, *core::addressed_extent(read));
    if (end > bytes_of_elements(written, *core::addressed_extent(written))) {
        return false;
    }
    const bool same_layout = written.data_type == read.data_type && written.sizes == read.sizes &&
                             core::effective_strides(written) == core::effective_strides(read);
    if (core::is_packed(written) || same_layout) {
        return true;
    }
    const std::vector<bool> has = addressed_nibbles(written);
    const std::vector<bool> wants = addressed_nibbles(read);
    for (std::size_t i = 0; i < wants.size(); ++i) {
        if (wants[i] && !has[i]) {
            return false;
        }
    }
    return true;
}

class GraphCheck {
public:
    GraphCheck(const Graph& graph, core::FeatureLevel level) : graph_(graph), level_(level) {}

    Verdict check() const {
        for (const auto step : {&GraphCheck::check_parts, &GraphCheck::check_producers, &GraphCheck::check_order,
                                &GraphCheck::check_nodes, &GraphCheck::check_use, &GraphCheck::check_edges}) {
            if (auto rejection = (this->*step)()) {
                return rejection;
            }
        }
        return {};
    }

private:
    /// Calls `visit(node, slot, value)` for the input or output slots of all nodes.
    template <class Visit>
    Verdict for_each_slot(bool inputs, const Visit& visit) const {
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const GraphNode& node = graph_.nodes[n];
            const auto slots = inputs ? node.descriptor->inputs() : node.descriptor->outputs();
            const auto& values = inputs ? node.inputs : node.outputs;
            for (std::size_t i = 0; i < slots.size(); ++i) {
                if (auto rejection = visit(n, i, slots[i], values[i])) {
                    return rejection;
                }
            }
        }
        return {};
    }

    Verdict check_parts() const {
        if (graph_.nodes.empty()) {
            return rejected_by("graph.empty", "the graph has no nodes");
        }
        if (graph_.outputs.empty()) {
            return rejected_by("graph.empty", "the graph has no outputs");
        }
        for (const GraphNode& node : graph_.nodes) {
            if (node.inputs.size() != node.descriptor->inputs().size() ||
                node.outputs.size() != node.descriptor->outputs().size()) {
                return rejected_by(
                    "graph.binding",
                    fmt::format("node `{}` does not say which values all of its tensors are", node.name));
            }
        }
        const auto check_slot = [&](std::size_t n, std::size_t, const TensorSlot& slot, ValueIndex value) -> Verdict {
            if ((slot.desc == nullptr) != (value == no_value)) {
                return rejected_by(
                    "graph.binding",
                    slot.desc == nullptr
                        ? fmt::format("{} of node `{}` is absent, but it is connected to `{}`", slot.name,
                                      graph_.nodes[n].name, graph_.values[value].name)
                        : fmt::format("{} of node `{}` is connected to nothing", slot.name, graph_.nodes[n].name));
            }
            return {};
        };
        const Verdict verdict = for_each_slot(true, check_slot);
        return verdict ? verdict : for_each_slot(false, check_slot);
    }

    Verdict check_producers() const {
        std::set<ValueIndex> written;
        const Verdict verdict =
            for_each_slot(false, [&](std::size_t n, std::size_t i, const TensorSlot&, ValueIndex value) -> Verdict {
                if (value == no_value) {
                    return {};
                }
                const auto& producer = graph_.values[value].producer;
                if (!written.insert(value).second || !producer || producer->node != n || producer->output != i) {
                    return rejected_by("graph.producer",
                                       fmt::format("`{}` is written by node `{}`, and by another one or by the graph's "
                                                   "input",
                                                   graph_.values[value].name, graph_.nodes[n].name));
                }
                return {};
            });
        if (verdict) {
            return verdict;
        }
        for (const ValueIndex output : graph_.outputs) {
            if (!graph_.values[output].producer) {
                return rejected_by("graph.output", fmt::format("output `{}` of the graph is written by no node",
                                                               graph_.values[output].name));
            }
        }
        return {};
    }

    Verdict check_order() const {
        return graph_.execution_order().empty()
                   ? rejected_by("graph.cycle", "the nodes form a cycle: some read what others make of their outputs")
                   : Verdict{};
    }

    Verdict check_nodes() const {
        for (const GraphNode& node : graph_.nodes) {
            if (auto rejection = validate(*node.descriptor, level_)) {
                rejection->message = fmt::format("node `{}`: {}", node.name, rejection->message);
                return rejection;
            }
        }
        return {};
    }

    Verdict check_use() const {
        std::vector<bool> used(graph_.values.size());
        for (const GraphNode& node : graph_.nodes) {
            for (const ValueIndex value : node.inputs) {
                if (value != no_value) {
                    used[value] = true;
                }
            }
        }
        // DirectML removes the device if a buffer is bound to such an input.
        for (const ValueIndex input : graph_.inputs) {
            if (!used[input]) {
                return rejected_by("graph.unreadInput",
                                   fmt::format("no node reads input `{}` of the graph", graph_.values[input].name));
            }
        }
        for (const ValueIndex output : graph_.outputs) {
            used[output] = true;
        }
        for (const GraphNode& node : graph_.nodes) {
            const bool is_used =
                std::ranges::any_of(node.outputs, [&](ValueIndex value) { return value != no_value && used[value]; });
            if (!is_used) {
                return rejected_by("graph.unusedNode",
                                   fmt::format("node `{}` is of no use: nobody reads its outputs", node.name));
            }
        }
        return {};
    }

    Verdict check_edges() const {
        return for_each_slot(
            true, [&](std::size_t n, std::size_t, const TensorSlot& slot, ValueIndex index) -> Verdict {
                if (slot.desc == nullptr) {
                    return {};
                }
                const GraphValue& value = graph_.values[index];
                const std::string reader = fmt::format("{} of node `{}`", slot.name, graph_.nodes[n].name);
                return value.producer ? check_edge(value, *slot.desc, reader) : check_input(value, *slot.desc, reader);
            });
    }

    static Verdict check_edge(const GraphValue& value, const core::TensorDesc& read, const std::string& reader) {
        if (read.flags != core::TensorFlags::none) {
            return rejected_by("graph.ownedValue", fmt::format("{} is OWNED_BY_DML, but `{}` is computed in the graph",
                                                               reader, value.name));
        }
        if (read.total_bytes != value.desc.total_bytes) {
            return rejected_by("graph.edgeSize", fmt::format("{} has {} bytes, but `{}` has {}", reader,
                                                             read.total_bytes, value.name, value.desc.total_bytes));
        }
        // Applies to producers with strides, too. A reader with strides may address fewer bytes.
        if (core::is_packed(read) && *core::minimum_total_bytes(read) < *core::minimum_total_bytes(value.desc)) {
            return rejected_by("graph.edgeBytes", fmt::format("{} is {}, which is less than all of `{}`, {}", reader,
                                                              to_string(read), value.name, to_string(value.desc)));
        }
        // DirectML accepts this, but the result is undefined.
        if (!reads_only_what_is_written(value.desc, read)) {
            return rejected_by("graph.edgeBytes",
                               fmt::format("{} is {}, which has bytes that nobody writes in `{}`, {}", reader,
                                           to_string(read), value.name, to_string(value.desc)));
        }
        return {};
    }

    static Verdict check_input(const GraphValue& value, const core::TensorDesc& read, const std::string& reader) {
        if (read.flags != value.desc.flags) {
            return rejected_by("graph.ownedInput",
                               fmt::format("{} and another reader of `{}` differ in OWNED_BY_DML", reader, value.name));
        }
        if (read.total_bytes > value.desc.total_bytes) {
            return rejected_by("graph.edgeSize",
                               fmt::format("{} has {} bytes, more than the {} that the first reader of `{}` has",
                                           reader, read.total_bytes, value.desc.total_bytes, value.name));
        }
        // The case's data covers only the elements that the first reader addresses.
        if (!reads_only_what_is_written(value.desc, read)) {
            return rejected_by("graph.edgeBytes",
                               fmt::format("{} is {}, which has bytes that the first reader of `{}` does not see: {}",
                                           reader, to_string(read), value.name, to_string(value.desc)));
        }
        return {};
    }

    const Graph& graph_;
    core::FeatureLevel level_;
};

}  // namespace

Verdict validate_graph(const Graph& graph, core::FeatureLevel level) {
    return GraphCheck(graph, level).check();
}

std::vector<std::size_t> find_cycle(const Graph& graph) {
    // Walks from nodes to their producers: a node that is met twice is on a cycle. `harmless` nodes lead to no cycle.
    std::vector<bool> harmless(graph.nodes.size());
    for (std::size_t start = 0; start < graph.nodes.size(); ++start) {
        std::vector<std::size_t> path{start};
        while (!path.empty()) {
            const std::size_t n = path.back();
            std::optional<std::size_t> next;
            for (const ValueIndex value : graph.nodes[n].inputs) {
                const auto& producer = value == no_value ? std::nullopt : graph.values[value].producer;
                if (producer && !harmless[producer->node]) {
                    next = producer->node;
                    break;
                }
            }
            if (!next || harmless[n]) {
                harmless[n] = true;
                path.pop_back();
                continue;
            }
            if (const auto met = std::ranges::find(path, *next); met != path.end()) {
                std::vector<std::size_t> cycle(met, path.end());
                std::ranges::reverse(cycle);
                std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
                return cycle;
            }
            path.push_back(*next);
        }
    }
    return {};
}

std::span<const std::string_view> graph_rule_names() {
    return graph_rules;
}

Cost minimum_graph_cost(const Graph& graph) {
    Cost sum;
    for (const GraphNode& node : graph.nodes) {
        const Cost cost = minimum_cost(*node.descriptor);
        sum.bytes += cost.bytes;
        sum.operations += cost.operations;
    }
    return sum;
}

std::vector<std::size_t> last_uses(const Graph& graph, std::span<const std::size_t> order) {
    std::vector<std::size_t> last(graph.values.size(), order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
        const GraphNode& node = graph.nodes[order[position]];
        for (const auto* values : {&node.outputs, &node.inputs}) {
            for (const ValueIndex value : *values) {
                if (value != no_value) {
                    last[value] = position;
                }
            }
        }
    }
    for (const ValueIndex output : graph.outputs) {
        last[output] = order.size();
    }
    return last;
}

}  // namespace dmlconform::operators
