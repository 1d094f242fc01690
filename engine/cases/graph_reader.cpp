// Reads the graph of a case.
#include "engine/cases/graph_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "engine/cases/case_parts.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/utf8.h"
#include "engine/operators/graph_builder.h"
#include "engine/operators/graph_rules.h"

namespace dmlconform::cases {
namespace {

using operators::Descriptor;
using operators::TensorSlot;

constexpr std::string_view a_node = "a node";

const std::array<std::string, 3> graph_keys{"nodes", "constants", "outputs"};
const std::array<std::string, 6> node_keys{"name", "operator", "desc", "inputs", "outputs", "inPlace"};
const std::array<std::string, 2> connection_keys{"value", "reinterpret"};

/// One end of an edge, as written in the file.
struct Connection {
    std::string value;
    std::size_t offset = 0;
    bool reinterpret = false;
};

struct WrittenNode {
    std::string name;
    std::size_t offset = 0;
    std::shared_ptr<const Descriptor> descriptor;
    /// One for each of Descriptor::inputs(); `writes` has one for each of outputs().
    std::vector<Connection> reads;
    std::vector<Connection> writes;
};

bool is_value_name(std::string_view name) {
    constexpr std::size_t longest = 500;
    return !name.empty() && name.size() <= longest && name != "*" && std::ranges::all_of(name, [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '\\' && c != '`';
    });
}

class GraphReader {
public:
    explicit GraphReader(ProblemSink& problems) : problems_(problems), before_(problems.count()) {}

    std::shared_ptr<const Descriptor> read(const JsonValue& graph) {
        if (graph.object() == nullptr) {
            problems_.add(graph.offset, fmt::format("\"graph\" must be an object; this is {}", graph.kind_name()));
            return nullptr;
        }
        check_keys(graph, graph_keys, "a graph", problems_);
        read_nodes(graph);
        add_nodes();
        if (!failed()) {
            read_outputs(graph);
            read_constants(graph);
            check_cycle();
        }
        if (failed()) {
            return nullptr;
        }
        check_types();
        return failed() ? nullptr
                        : operators::graph_descriptor(std::make_shared<const operators::Graph>(builder_.graph()));
    }

private:
    [[nodiscard]] bool failed() const { return problems_.count() != before_; }

    void read_nodes(const JsonValue& graph) {
        const JsonValue* nodes = graph.find("nodes");
        if (nodes == nullptr || nodes->array() == nullptr || nodes->array()->empty()) {
            problems_.add(nodes == nullptr ? graph.offset : nodes->offset,
                          "a graph needs \"nodes\": an array of at least one node");
            return;
        }
        for (const JsonValue& node : *nodes->array()) {
            if (node.object() == nullptr) {
                problems_.add(node.offset, fmt::format("a node must be an object; this is {}", node.kind_name()));
            } else {
                read_node(node);
            }
        }
    }

    void read_node(const JsonValue& object) {
        check_keys(object, node_keys, a_node, problems_);
        WrittenNode node;
        node.offset = object.offset;
        node.name = read_name(object, a_node, problems_);
        const auto* schema = read_operator(object, a_node, problems_);
        const JsonValue* desc = object.find("desc");
        if (desc == nullptr) {
            problems_.add(object.offset, "a node needs \"desc\"");
        }
        auto descriptor =
            schema == nullptr || desc == nullptr ? std::nullopt : read_descriptor(*desc, *schema, problems_);
        if (!descriptor) {
            return;
        }
        read_in_place(object, *descriptor, problems_);
        node.descriptor = operators::sealed(std::move(*descriptor));
        node.reads = read_connections(object, "inputs", node.descriptor->inputs(), node.name);
        node.writes = read_connections(object, "outputs", node.descriptor->outputs(), node.name);
        nodes_.push_back(std::move(node));
    }

    std::vector<Connection> read_connections(const JsonValue& node, std::string_view key,
                                             const std::vector<TensorSlot>& slots, const std::string& name) {
        std::vector<Connection> connections(slots.size());
        const JsonValue* written = node.find(key);
        if (written != nullptr && written->object() == nullptr) {
            problems_.add(written->offset,
                          fmt::format("\"{}\" of a node must be an object; this is {}", key, written->kind_name()),
                          R"(for example { "InputTensor": "x" })");
            return connections;
        }
        std::vector<std::string> names;
        for (const TensorSlot& slot : slots) {
            names.push_back(slot.name);
        }
        if (written != nullptr) {
            check_keys(*written, names, fmt::format("\"{}\" of node `{}`", key, name), problems_);
        }
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const JsonValue* value = written == nullptr ? nullptr : written->find(slots[i].name);
            if (value != nullptr && slots[i].desc == nullptr) {
                problems_.add(value->offset,
                              fmt::format("{} is absent in \"desc\", so it is connected to nothing", slots[i].name));
            } else if (value != nullptr) {
                connections[i] = read_connection(*value, key == "inputs");
            } else if (slots[i].desc != nullptr && key == "inputs") {
                problems_.add(written == nullptr ? node.offset : written->offset,
                              fmt::format("node `{}` does not say which value {} is", name, slots[i].name),
                              fmt::format(R"(for example "{}": "x")", slots[i].name));
            }
        }
        return connections;
    }

    Connection read_connection(const JsonValue& written, bool is_input) {
        Connection connection;
        connection.offset = written.offset;
        const JsonValue* value = &written;
        if (is_input && written.object() != nullptr) {
            check_keys(written, connection_keys, "an input of a node", problems_);
            value = written.find("value");
            const JsonValue* reinterpret = written.find("reinterpret");
            if (reinterpret != nullptr && (reinterpret->boolean() == nullptr || !*reinterpret->boolean())) {
                problems_.add(reinterpret->offset, "\"reinterpret\" can only be true");
            }
            connection.reinterpret = reinterpret != nullptr;
        }
        if (value == nullptr || value->string() == nullptr) {
            problems_.add(written.offset, "this must be the name of a value",
                          R"(for example "t", or { "value": "t", "reinterpret": true } for another data type)");
        } else if (!is_value_name(*value->string())) {
            problems_.add(value->offset,
                          fmt::format("\"{}\" is not a name for a value", core::shortened(*value->string())),
                          "at most 500 characters, without spaces, quotes and backslashes, and not `*`");
        } else {
            connection.value = *value->string();
        }
        return connection;
    }

    void add_nodes() {
        for (const WrittenNode& node : nodes_) {
            std::vector<std::string> reads;
            std::vector<std::string> writes;
            for (const Connection& connection : node.reads) {
                reads.push_back(connection.value);
            }
            for (const Connection& connection : node.writes) {
                writes.push_back(connection.value);
            }
            if (failed()) {
                continue;
            }
            if (const auto added = builder_.add_node(node.name, node.descriptor, reads, writes); !added) {
                problems_.add(node.offset, added.error().message);
            }
        }
    }

    /// Reads an array of unique names with their offsets in the file.
    std::vector<std::pair<std::string, std::size_t>> read_names(const JsonValue& graph, std::string_view key) {
        std::vector<std::pair<std::string, std::size_t>> names;
        const JsonValue* list = graph.find(key);
        if (list == nullptr) {
            return names;
        }
        if (list->array() == nullptr) {
            problems_.add(list->offset,
                          fmt::format("\"{}\" must be an array of names; this is {}", key, list->kind_name()));
            return names;
        }
        std::set<std::string> seen;
        for (const JsonValue& name : *list->array()) {
            if (name.string() == nullptr) {
                problems_.add(name.offset,
                              fmt::format("\"{}\" has names of values; this is {}", key, name.kind_name()));
            } else if (!seen.insert(*name.string()).second) {
                problems_.add(name.offset,
                              fmt::format("\"{}\" names `{}` twice", key, core::shortened(*name.string())));
            } else {
                names.emplace_back(*name.string(), name.offset);
            }
        }
        return names;
    }

    /// Names of values that a node writes, or of values that no node writes.
    [[nodiscard]] std::vector<std::string> value_names(bool written) const {
        std::vector<std::string> names;
        for (const operators::GraphValue& value : builder_.graph().values) {
            if (value.producer.has_value() == written) {
                names.push_back(value.name);
            }
        }
        return names;
    }

    void read_outputs(const JsonValue& graph) {
        const auto names = read_names(graph, "outputs");
        if (names.empty() && !failed()) {
            problems_.add(graph.offset, "a graph needs \"outputs\": the names of the values that are read back");
        }
        const std::vector<std::string> written = value_names(true);
        for (const auto& [name, offset] : names) {
            if (std::ranges::find(written, name) == written.end()) {
                problems_.add(offset, fmt::format("output `{}` is written by no node", core::shortened(name)),
                              suggestion(name, written));
            } else {
                builder_.add_output(name);
            }
        }
    }

    void read_constants(const JsonValue& graph) {
        const std::vector<std::string> inputs = value_names(false);
        for (const auto& [name, offset] : read_names(graph, "constants")) {
            if (std::ranges::find(inputs, name) != inputs.end()) {
                builder_.set_constant(name);
                continue;
            }
            const operators::Graph so_far = builder_.graph();
            const auto value = so_far.find_value(name);
            problems_.add(offset,
                          value ? fmt::format("constant `{}` is written by node `{}`", name,
                                              so_far.nodes[so_far.values[*value].producer->node].name)
                                : fmt::format("constant `{}` is read by no node", core::shortened(name)),
                          suggestion(name, inputs));
        }
    }

    void check_cycle() {
        const operators::Graph graph = builder_.graph();
        if (!graph.execution_order().empty()) {
            return;
        }
        const std::vector<std::size_t> cycle = operators::find_cycle(graph);
        std::vector<std::string> names;
        for (const std::size_t n : cycle) {
            names.push_back(fmt::format("`{}`", graph.nodes[n].name));
        }
        problems_.add(nodes_[cycle.front()].offset,
                      fmt::format("the nodes form a cycle: {}, each of which reads what the one before it writes",
                                  fmt::join(names, " -> ")));
    }

    /// Reports edges whose ends have different data types. That is legal, but nearly always a mistake.
    void check_types() {
        const operators::Graph graph = builder_.graph();
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            const auto slots = nodes_[n].descriptor->inputs();
            for (std::size_t i = 0; i < slots.size(); ++i) {
                const operators::ValueIndex index = graph.nodes[n].inputs[i];
                if (index == operators::no_value || nodes_[n].reads[i].reinterpret ||
                    graph.values[index].desc.data_type == slots[i].desc->data_type) {
                    continue;
                }
                problems_.add(nodes_[n].reads[i].offset,
                              fmt::format("`{}` is {}, but {} of node `{}` is {}", graph.values[index].name,
                                          core::name(graph.values[index].desc.data_type), slots[i].name, nodes_[n].name,
                                          core::name(slots[i].desc->data_type)),
                              fmt::format(R"(if its bits are meant: {{ "value": "{}", "reinterpret": true }})",
                                          graph.values[index].name));
            }
        }
    }

    ProblemSink& problems_;
    std::size_t before_;
    std::vector<WrittenNode> nodes_;
    operators::GraphBuilder builder_;
};

}  // namespace

std::shared_ptr<const Descriptor> read_graph(const JsonValue& graph, ProblemSink& problems) {
    return GraphReader(problems).read(graph);
}

std::size_t offset_in_graph(const JsonValue& graph, std::string_view message) {
    constexpr std::string_view before = "node `";
    const std::size_t at = message.find(before);
    const JsonValue* nodes = graph.find("nodes");
    if (at == std::string_view::npos || nodes == nullptr || nodes->array() == nullptr) {
        return graph.offset;
    }
    const std::string_view rest = message.substr(at + before.size());
    const std::string_view wanted = rest.substr(0, rest.find('`'));
    for (const JsonValue& node : *nodes->array()) {
        const JsonValue* name = node.find("name");
        if (name != nullptr && name->string() != nullptr && *name->string() == wanted) {
            return node.offset;
        }
    }
    return graph.offset;
}

std::string similar_value(const operators::Graph& graph, const std::string& input) {
    std::vector<std::string> written;
    for (const operators::GraphValue& value : graph.values) {
        if (value.producer) {
            written.push_back(value.name);
        }
    }
    return suggestion(input, written);
}

}  // namespace dmlconform::cases
