// Runs a graph one node at a time, which every engine supports.
#pragma once

#include "engine/engine.h"

namespace dmlconform {

/// Why the engine cannot run some node; empty if it can run all.
[[nodiscard]] std::optional<std::string> unsupported_node(const Engine& engine, const operators::Descriptor& graph);

/// Compiles each node. The executable runs the nodes in order, keeps values in host memory until their last reader has
/// run, and fails if a node writes beyond the end of an output. The engine must outlive it.
[[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_by_nodes(
    Engine& engine, const operators::Descriptor& graph);

}  // namespace dmlconform
