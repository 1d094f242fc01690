// Nodes of a graph that follow each other element by element, for all runs at once. A part of them goes through all
// nodes while it is in the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/kernel.h"
#include "engine/cpu/node_noise.h"

namespace dmlconform::cpu {

/// A node of such a chain. What it points to must outlive it.
struct ChainLink {
    const ElementByElement* formula = nullptr;
    /// For each of the formula's inputs, the elements of each run; empty if these are what the link before computes.
    std::vector<std::vector<const float*>> given = {};
    /// What is added to the results; null if nothing is.
    const NodeNoise* noise = nullptr;
};

class ChainOfRuns {
public:
    /// The most runs, and the most inputs of a formula.
    static constexpr std::size_t most_runs = 16;
    static constexpr std::size_t most_inputs = 3;

    explicit ChainOfRuns(std::vector<ChainLink> links) : links_(std::move(links)) {}

    /// Passes elements of all runs through all nodes: see ChangePart.
    void compute(std::int64_t first, std::int64_t count, std::size_t runs, float* elements) const;
    /// Loads what that needs into the caches.
    void prefetch(std::int64_t first, std::int64_t count) const;
    /// Computes elements 0 … count - 1 of all runs, in several threads. No input of the first node is empty. `outputs`
    /// has the first element of each run.
    void compute_all(std::int64_t count, std::span<float* const> outputs) const;

private:
    std::vector<ChainLink> links_;
};

}  // namespace dmlconform::cpu
