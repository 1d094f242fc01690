// Combines the plans of a graph's nodes into a single plan.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"
#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/operators/graph.h"

namespace dmlconform::d3d12 {

struct GraphPlan {
    /// Temporaries are the values between nodes, and the nodes' own temporaries. They share memory.
    DispatchPlan plan;
    /// For the memory of inputs and outputs: of all descriptors of a value, the one that extends furthest. They belong
    /// to the graph.
    std::vector<const core::TensorDesc*> inputs;
    std::vector<const core::TensorDesc*> outputs;
    /// The nodes in the order of dispatch, and for each the end of its dispatches.
    std::vector<std::size_t> order;
    std::vector<std::size_t> ends;
};

/// Plans a valid graph whose nodes the engine supports. Fails, naming the node, if its work cannot be cut into parts
/// that shaders can address.
[[nodiscard]] core::Result<GraphPlan> plan_graph(const Addressable& most, const operators::Graph& graph);

}  // namespace dmlconform::d3d12
