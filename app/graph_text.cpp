// The text of `describe --graph`.
#include "app/graph_text.h"

#include <fmt/format.h>

#include "engine/operators/graph_rule_table.h"

namespace dmlconform::app {

std::string graph_text() {
    std::string text = R"(A case may have a "graph" in place of "operator" and "desc".

nodes      operators, in any order. Each has
  name       unique in the graph
  operator   and "desc": as in a case
  inputs     tensor field -> name of the value that it is
  outputs    tensor field -> name of its value; one without a name is "<node>.<field>"
  inPlace    as in a case
constants  inputs whose data is fixed when the graph is compiled
outputs    values that are read back

A value that no node writes is an input of the graph, with data under "inputs". The two ends of an edge see the same
bytes: a reshape needs no node. For another data type at the other end, write { "value": "t", "reinterpret": true }.

Each node is judged by itself, with the inputs that the reference computes, as the case "<case>/<node>", and then the
graph as a whole. `dmlconform new --graph conv-relu` prints a graph to start from; docs/graphs.md has the rest.

Rules:
)";
    for (const auto& rules : {operators::structure_rules(), operators::value_rules()}) {
        for (const operators::GraphRule& rule : rules) {
            text += fmt::format("  {:<20}  {}\n", rule.name, rule.demand);
        }
    }
    return text;
}

}  // namespace dmlconform::app
