// Reads serialised DirectML graphs: what ONNX Runtime writes with the session option ep.dml.enable_graph_serialization.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/initialiser.h"
#include "engine/core/error.h"
#include "engine/operators/graph.h"

namespace dmlconform::interop {

/// An input of the graph.
struct DmlGraphInput {
    /// The file's name for it.
    std::string name;
    /// The data of a constant, packed as the graph's value is.
    std::optional<cases::Initialiser> data;
};

struct DmlGraph {
    std::shared_ptr<const operators::Graph> graph;
    /// In the order of Graph::inputs: the file's inputs, then its constants.
    std::vector<DmlGraphInput> inputs;
    /// The file's names, in the order of Graph::outputs.
    std::vector<std::string> outputs;
    /// Notes for the user: inputs that nothing reads.
    std::vector<std::string> notes;
};

/// The graph, which is legal. Constants lie beside the file and are read when they are needed. Errors do not contain
/// the path.
[[nodiscard]] core::Result<DmlGraph> read_dml_graph(const std::filesystem::path& path);

}  // namespace dmlconform::interop
