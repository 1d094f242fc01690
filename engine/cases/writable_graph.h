// Graphs from other files in a form that a case file can hold.
#pragma once

#include <memory>

#include "engine/core/error.h"
#include "engine/operators/graph.h"

namespace dmlconform::cases {

/// The graph with names that the reader of case files accepts, and with inputs as their first readers describe them,
/// which is how the reader sees them. Fails if the first reader does not see all of an input.
[[nodiscard]] core::Result<std::shared_ptr<const operators::Graph>> writable_graph(
    const std::shared_ptr<const operators::Graph>& graph);

}  // namespace dmlconform::cases
