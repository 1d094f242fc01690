// Graphs as JSON, for sending them to another process.
//
//     {"inputs":  [{"name": "x", "tensor": {"DataType": "FLOAT32", "Sizes": [4], …}, "constant": false}],
//      "nodes":   [{"name": "relu", "operator": "DML_OPERATOR_ACTIVATION_RELU", "desc": {…},
//                   "inputs": ["x"], "outputs": ["y"]}],
//      "outputs": ["y"]}
//
// Nodes are written as by descriptor_to_json, plus the names of the values of all their tensors in the order of the
// struct's fields; null for an absent tensor. docs/worker-protocol.md has the details.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "engine/core/error.h"
#include "engine/operators/graph.h"

namespace dmlconform::operators {

/// Illegal graphs can be written, too.
[[nodiscard]] nlohmann::json graph_to_json(const Graph& graph);

/// Reads what graph_to_json writes. The input is untrusted: an error says what is malformed. The result may be illegal,
/// for example cyclic, but all its indices are valid.
[[nodiscard]] core::Result<std::shared_ptr<const Graph>> graph_from_json(const nlohmann::json& value);

}  // namespace dmlconform::operators
