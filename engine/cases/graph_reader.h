// Reads the "graph" of a case: nodes, and the names of the values that they read and write.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/operators/descriptor.h"
#include "engine/operators/graph.h"

namespace dmlconform::cases {

/// Reads a graph and returns it as a descriptor. Reports problems of form (unknown names, two producers of a value,
/// types that differ without "reinterpret", …); the result is then null. operators::validate decides whether the graph
/// is legal.
[[nodiscard]] std::shared_ptr<const operators::Descriptor> read_graph(const JsonValue& graph, ProblemSink& problems);

/// The offset of the node that a message of operators::validate names, or of the whole graph if it names none.
[[nodiscard]] std::size_t offset_in_graph(const JsonValue& graph, std::string_view message);

/// "did you mean `t1`?" for an input of the graph whose name is similar to that of a value that a node writes.
/// Otherwise empty.
[[nodiscard]] std::string similar_value(const operators::Graph& graph, const std::string& input);

}  // namespace dmlconform::cases
