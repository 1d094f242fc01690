// The execution order of a graph's nodes, and the conversion of a graph to a descriptor.
#include "engine/operators/graph.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "engine/operators/rules.h"

namespace dmlconform::operators {
namespace {

/// Keeps a graph and its schema alive together, so that copies of a descriptor can refer to both.
struct GraphWithSchema {
    std::shared_ptr<const Graph> graph;
    OperatorSchema schema;
};

Field tensor_field(const GraphValue& value, FieldKind kind) {
    Field field;
    field.name = value.name;
    field.kind = kind;
    field.type = FieldType::tensor_desc;
    return field;
}

}  // namespace

std::vector<std::size_t> Graph::execution_order() const {
    std::vector<std::size_t> missing(nodes.size());
    std::vector<std::vector<std::size_t>> readers(nodes.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        for (const ValueIndex value : nodes[n].inputs) {
            if (value != no_value && values[value].producer) {
                readers[values[value].producer->node].push_back(n);
                ++missing[n];
            }
        }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (missing[n] == 0) {
            ready.push(n);
        }
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (const std::size_t reader : readers[order.back()]) {
            if (--missing[reader] == 0) {
                ready.push(reader);
            }
        }
    }
    return order.size() == nodes.size() ? order : std::vector<std::size_t>();
}

std::optional<ValueIndex> Graph::find_value(std::string_view name) const {
    const auto found = std::ranges::find(values, name, &GraphValue::name);
    return found == values.end() ? std::nullopt : std::optional(static_cast<ValueIndex>(found - values.begin()));
}

std::shared_ptr<const Descriptor> graph_descriptor(std::shared_ptr<const Graph> graph) {
    const auto owner = std::make_shared<GraphWithSchema>();
    const auto descriptor = std::make_shared<Descriptor>();
    const auto add = [&](ValueIndex value, FieldKind kind) {
        owner->schema.fields.push_back(tensor_field(graph->values[value], kind));
        descriptor->values.emplace_back(graph->values[value].desc);
    };
    owner->schema.name = "DML_OPERATOR_GRAPH";
    for (const ValueIndex input : graph->inputs) {
        add(input, FieldKind::input);
    }
    for (const ValueIndex output : graph->outputs) {
        add(output, FieldKind::output);
    }
    owner->graph = std::move(graph);
    descriptor->schema = &owner->schema;
    descriptor->graph = std::shared_ptr<const Graph>(owner, owner->graph.get());
    return sealed(std::move(*descriptor));
}

}  // namespace dmlconform::operators
