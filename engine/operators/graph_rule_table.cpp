// The rows of the table, and how each of them is checked.
#include "engine/operators/graph_rule_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace dmlconform::operators {
namespace {

Verdict broken(std::string message) {
    return rejected_by("", std::move(message));
}

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

/// Calls `visit(node, slot, value)` for the input or output slots of all nodes, and returns the first violation.
template <class Visit>
Verdict for_each_slot(const Graph& graph, bool inputs, const Visit& visit) {
    for (const GraphNode& node : graph.nodes) {
        const auto slots = inputs ? node.descriptor->inputs() : node.descriptor->outputs();
        const auto& values = inputs ? node.inputs : node.outputs;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (Verdict verdict = visit(node, slots[i], values[i])) {
                return verdict;
            }
        }
    }
    return {};
}

std::string reader_name(const GraphNode& node, const TensorSlot& slot) {
    return fmt::format("{} of node `{}`", slot.name, node.name);
}

/// Calls `visit(value, tensor, reader)` for each tensor that reads a value which a node writes (`computed`), or an
/// input of the graph.
template <class Visit>
Verdict for_each_reader(const Graph& graph, bool computed, const Visit& visit) {
    return for_each_slot(graph, true, [&](const GraphNode& node, const TensorSlot& slot, ValueIndex index) -> Verdict {
        if (slot.desc == nullptr || graph.values[index].producer.has_value() != computed) {
            return {};
        }
        return visit(graph.values[index], *slot.desc, reader_name(node, slot));
    });
}

Verdict check_empty(const Graph& graph) {
    return graph.nodes.empty()     ? broken("the graph has no nodes")
           : graph.outputs.empty() ? broken("the graph has no outputs")
                                   : Verdict{};
}

Verdict check_binding(const Graph& graph) {
    for (const GraphNode& node : graph.nodes) {
        if (node.inputs.size() != node.descriptor->inputs().size() ||
            node.outputs.size() != node.descriptor->outputs().size()) {
            return broken(fmt::format("node `{}` does not say which values all of its tensors are", node.name));
        }
    }
    const auto visit = [&](const GraphNode& node, const TensorSlot& slot, ValueIndex value) -> Verdict {
        if ((slot.desc == nullptr) == (value == no_value)) {
            return {};
        }
        return broken(slot.desc == nullptr ? fmt::format("{} of node `{}` is absent, but it is connected to `{}`",
                                                         slot.name, node.name, graph.values[value].name)
                                           : fmt::format("{} is connected to nothing", reader_name(node, slot)));
    };
    const Verdict verdict = for_each_slot(graph, true, visit);
    return verdict ? verdict : for_each_slot(graph, false, visit);
}

Verdict check_producer(const Graph& graph) {
    std::set<ValueIndex> written;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        for (std::size_t i = 0; i < graph.nodes[n].outputs.size(); ++i) {
            const ValueIndex value = graph.nodes[n].outputs[i];
            if (value == no_value) {
                continue;
            }
            const auto& producer = graph.values[value].producer;
            if (!written.insert(value).second || !producer || producer->node != n || producer->output != i) {
                return broken(fmt::format("`{}` is written by node `{}`, and by another one or by the graph's input",
                                          graph.values[value].name, graph.nodes[n].name));
            }
        }
    }
    return {};
}

Verdict check_output(const Graph& graph) {
    for (const ValueIndex output : graph.outputs) {
        if (!graph.values[output].producer) {
            return broken(fmt::format("output `{}` of the graph is written by no node", graph.values[output].name));
        }
    }
    return {};
}

Verdict check_cycle(const Graph& graph) {
    return graph.execution_order().empty()
               ? broken("the nodes form a cycle: some read what others make of their outputs")
               : Verdict{};
}

std::vector<bool> read_values(const Graph& graph) {
    std::vector<bool> read(graph.values.size());
    for (const GraphNode& node : graph.nodes) {
        for (const ValueIndex value : node.inputs) {
            if (value != no_value) {
                read[value] = true;
            }
        }
    }
    return read;
}

Verdict check_unread_input(const Graph& graph) {
    const std::vector<bool> read = read_values(graph);
    for (const ValueIndex input : graph.inputs) {
        if (!read[input]) {
            return broken(fmt::format("no node reads input `{}` of the graph", graph.values[input].name));
        }
    }
    return {};
}

Verdict check_unused_node(const Graph& graph) {
    std::vector<bool> used = read_values(graph);
    for (const ValueIndex output : graph.outputs) {
        used[output] = true;
    }
    for (const GraphNode& node : graph.nodes) {
        if (std::ranges::none_of(node.outputs, [&](ValueIndex value) { return value != no_value && used[value]; })) {
            return broken(fmt::format(
                "node `{}` is not needed: no node reads its outputs, and the graph does not return them", node.name));
        }
    }
    return {};
}

Verdict check_owned_value(const Graph& graph) {
    return for_each_reader(graph, true, [](const GraphValue& value, const auto& read, const auto& reader) -> Verdict {
        return read.flags == core::TensorFlags::none
                   ? Verdict{}
                   : broken(fmt::format("{} is OWNED_BY_DML, but `{}` is computed in the graph", reader, value.name));
    });
}

Verdict check_edge_size(const Graph& graph) {
    return for_each_reader(graph, true, [](const GraphValue& value, const auto& read, const auto& reader) -> Verdict {
        return read.total_bytes == value.desc.total_bytes
                   ? Verdict{}
                   : broken(fmt::format("{} has {} bytes, but `{}` has {}", reader, read.total_bytes, value.name,
                                        value.desc.total_bytes));
    });
}

Verdict check_whole_edge(const Graph& graph) {
    return for_each_reader(graph, true, [](const GraphValue& value, const auto& read, const auto& reader) -> Verdict {
        // Applies to producers with strides, too. A reader with strides may address fewer bytes.
        const bool is_part =
            core::is_packed(read) && *core::minimum_total_bytes(read) < *core::minimum_total_bytes(value.desc);
        return is_part ? broken(fmt::format("{} is {}, which is less than all of `{}`, {}", reader, to_string(read),
                                            value.name, to_string(value.desc)))
                       : Verdict{};
    });
}

Verdict check_written_bytes(const Graph& graph) {
    return for_each_reader(graph, true, [](const GraphValue& value, const auto& read, const auto& reader) -> Verdict {
        return reads_only_what_is_written(value.desc, read)
                   ? Verdict{}
                   : broken(fmt::format("{} is {}, which has bytes that nobody writes in `{}`, {}", reader,
                                        to_string(read), value.name, to_string(value.desc)));
    });
}

Verdict check_owned_input(const Graph& graph) {
    return for_each_reader(graph, false, [](const GraphValue& value, const auto& read, const auto& reader) -> Verdict {
        return read.flags == value.desc.flags
                   ? Verdict{}
                   : broken(fmt::format("{} and another reader of `{}` differ in OWNED_BY_DML", reader, value.name));
    });
}

Verdict check_input_size(const Graph& graph) {
    return for_each_reader(graph, false, [](const GraphValue& value, const auto& read, const auto& reader) -> Verdict {
        return read.total_bytes <= value.desc.total_bytes
                   ? Verdict{}
                   : broken(fmt::format("{} has {} bytes, more than the {} that the first reader of `{}` has", reader,
                                        read.total_bytes, value.desc.total_bytes, value.name));
    });
}

Verdict check_input_bytes(const Graph& graph) {
    return for_each_reader(graph, false, [](const GraphValue& value, const auto& read, const auto& reader) -> Verdict {
        return reads_only_what_is_written(value.desc, read)
                   ? Verdict{}
                   : broken(fmt::format("{} is {}, which has bytes that the first reader of `{}` does not see: {}",
                                        reader, to_string(read), value.name, to_string(value.desc)));
    });
}

// Tests of DirectMlGraphs in tests/directml/wine/graphs_test.cpp, which ask DirectML 1.15.4.
constexpr std::string_view structures = "Structures";
constexpr std::string_view edges = "BothEndsOfAnEdge";
// Not expressible as a Graph: asked by a program of its own.
constexpr std::string_view two_producers = "DML_GRAPH_DESC by hand";
// An edge of DML_GRAPH_DESC to an output begins at a node, so the struct cannot express anything else.
constexpr std::string_view by_struct = "DML_OUTPUT_GRAPH_EDGE_DESC";
// A case has data for the elements that the first reader addresses.
constexpr std::string_view case_files = "case files";
constexpr std::string_view refused = "refuses it";

constexpr std::array<GraphRule, 5> structure{{
    {"graph.empty", "there are nodes, and outputs", refused, structures, "", check_empty},
    {"graph.binding", "every tensor of a node is connected to a value, and only those", refused, structures, "",
     check_binding},
    {"graph.producer", "one node writes a value", refused, two_producers, "", check_producer},
    {"graph.output", "a node writes each output of the graph", "cannot express it", by_struct, "", check_output},
    {"graph.cycle", "no node depends on itself", refused, structures, "", check_cycle},
}};

constexpr std::array<GraphRule, 9> of_values{{
    {"graph.unreadInput", "somebody reads each input", "accepts it; a buffer bound to it removes the device",
     structures, "", check_unread_input},
    {"graph.unusedNode", "somebody reads what a node writes", refused, structures, "unused-node", check_unused_node},
    {"graph.ownedValue", "what is computed is not OWNED_BY_DML", refused, edges, "owned-edge", check_owned_value},
    {"graph.edgeSize", "both ends of an edge have the same total size", refused, edges, "larger-reader",
     check_edge_size},
    {"graph.edgeBytes", "a packed reader sees all bytes of a value", refused, edges, "reader-of-a-part",
     check_whole_edge},
    {"graph.unwrittenBytes", "a reader sees only bytes that a node writes", "accepts it, undefined", edges,
     "reader-of-more", check_written_bytes},
    {"graph.ownedInput", "all readers of an input own it, or none does", refused, structures, "owned-by-one-reader",
     check_owned_input},
    {"graph.inputSize", "the first reader of an input has the largest total size", refused, structures,
     "larger-second-reader", check_input_size},
    {"graph.inputBytes", "later readers of an input see only bytes that the first one sees", "accepts it", case_files,
     "second-reader-of-gaps", check_input_bytes},
}};

}  // namespace

std::span<const GraphRule> structure_rules() {
    return structure;
}

std::span<const GraphRule> value_rules() {
    return of_values;
}

}  // namespace dmlconform::operators
