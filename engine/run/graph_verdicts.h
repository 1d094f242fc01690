// Relates the result of a graph to those of its nodes: which node is wrong, or that only the whole graph is.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/result.h"

namespace dmlconform::run {

/// Receives all results of a run. Those of a graph's nodes must precede that of the graph.
class GraphVerdicts {
public:
    /// Stores a node's result. Tells a graph's result about its nodes, and adds a hint to its failure: which of its
    /// nodes also fail, or that none does, and which were not judged.
    void hear(CaseResult& result);

private:
    /// Results of one graph's nodes on one engine.
    struct Nodes {
        std::size_t right = 0;
        /// Names of those that are neither right nor wrong, such as those that the engine does not support.
        std::vector<std::string> open{};
        NodeVerdicts verdicts{};
    };

    std::map<std::pair<std::string, std::size_t>, Nodes> nodes_;
};

}  // namespace dmlconform::run
