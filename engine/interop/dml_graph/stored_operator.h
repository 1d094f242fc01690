// Operators of a serialised graph as descriptors.
#pragma once

#include <string_view>
#include <vector>

#include "engine/interop/dml_graph/stored_graph.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::interop {

struct StoredOperator {
    operators::Descriptor descriptor;
    /// The names of the values, one for each of Descriptor::inputs() and outputs(); empty for absent tensors. They live
    /// as long as the file.
    std::vector<std::string_view> inputs;
    std::vector<std::string_view> outputs;
};

/// Reads an operator by its catalogue entry. The descriptor may be illegal.
[[nodiscard]] core::Result<StoredOperator> read_stored_operator(const StoredGraph& file, const stored::Node& node,
                                                                const stored::Operator& stored);

}  // namespace dmlconform::interop
