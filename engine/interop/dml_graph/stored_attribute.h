// Attributes of serialised operators as values of fields.
#pragma once

#include "engine/interop/dml_graph/stored_graph.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::interop {

using StoredAttributes = flatbuffers::Vector<flatbuffers::Offset<stored::Attribute>>;

/// A descriptor with the attributes, which the file lists in the order of the struct, and without tensors.
[[nodiscard]] core::Result<operators::Descriptor> read_stored_attributes(const StoredGraph& file,
                                                                         const operators::OperatorSchema& schema,
                                                                         const StoredAttributes* attributes);

/// Fails if an array is not as long as the attribute says that holds its length.
[[nodiscard]] core::Result<void> check_stored_counts(const operators::Descriptor& descriptor);

}  // namespace dmlconform::interop
