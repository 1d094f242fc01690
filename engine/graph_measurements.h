// Measurements of engines that run a graph as a whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform {

/// An optional interface of a graph's executable.
class GraphMeasurements {
public:
    GraphMeasurements() = default;
    GraphMeasurements(const GraphMeasurements&) = delete;
    GraphMeasurements& operator=(const GraphMeasurements&) = delete;
    virtual ~GraphMeasurements() = default;

    /// Executes the nodes one after another, and returns the time of each of Graph::nodes by the device's clock. The
    /// sum may exceed the time of the graph, whose nodes may overlap. Inputs must be bound.
    [[nodiscard]] virtual core::Result<std::vector<std::chrono::nanoseconds>> time_nodes() = 0;

    /// The device memory for values that are neither inputs nor outputs of the graph.
    [[nodiscard]] virtual std::uint64_t intermediate_bytes() const = 0;
};

}  // namespace dmlconform
