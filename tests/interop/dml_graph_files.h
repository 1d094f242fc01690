// Writes serialised DirectML graphs as ONNX Runtime does, for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dml_graph_generated.h"
#include "engine/operators/graph.h"

namespace dmlconform::tests {

/// The bytes of a constant in the graph's file, or the name of its own file without ".bin".
struct StoredConstant {
    std::string file;
    std::vector<std::uint8_t> bytes;
};

/// What tests make wrong in a file.
struct DmlGraphFaults {
    /// The name that each attribute gets; empty for its own.
    std::string attribute_name = {};
    /// Drops the last attribute of each operator.
    bool too_few_attributes = false;
    /// Drops the last input tensor of each operator, but not its name.
    bool too_few_tensors = false;
    /// The type of each operator; empty for its own.
    std::string operator_type = {};
    /// The number of strides and sizes that each tensor gets in addition.
    std::size_t more_sizes = 0;
    /// Refers to the first node this many times.
    std::size_t copies_of_a_node = 1;
};

/// The content of a file. `constants` are the inputs of the graph that are constants, by name.
[[nodiscard]] std::string dml_graph_file(const operators::Graph& graph,
                                         const std::map<std::string, StoredConstant>& constants = {},
                                         const DmlGraphFaults& faults = {});

}  // namespace dmlconform::tests
