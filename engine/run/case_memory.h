// Estimates the memory that a case needs, before any of it is allocated.
#pragma once

#include <cstdint>

#include "engine/cases/case.h"
#include "engine/operators/graph.h"

namespace dmlconform::run {

/// Copies of a case's tensors beyond those that running it needs.
struct MoreCopies {
    /// The engine is in another process, so tensors are sent there and back.
    bool sent = false;
    /// A failure keeps copies (CaseSettings::keep_evidence).
    bool evidence = false;
    /// An engine's outputs are kept for comparison with the others (CaseSettings::against).
    bool answer = false;
    /// What the engine has of a graph at a time, if the graph's values lie in temporary files.
    enum class Engine : std::uint8_t { nothing, node, graph } engine = Engine::graph;
};

/// The estimate in bytes: each input once here and once in the engine; each output twice in the engine and here (the
/// engine's buffer and what is read back, the expected and the reference's values); and 26 bytes for each element of an
/// output with bounds. Inputs that are not packed are made packed first, which with strides of 0 takes far more than
/// the tensor. Saturates instead of overflowing. The descriptor must be legal.
[[nodiscard]] std::uint64_t memory_needed(const cases::Case& subject, const MoreCopies& more = {});

/// The same for a graph whose inputs and values lie in temporary files. The reference then has the tensors of one node
/// in memory.
[[nodiscard]] std::uint64_t memory_needed_in_files(const cases::Case& subject, const MoreCopies& more = {});

/// What computing the largest node of a graph takes, besides values that are kept.
[[nodiscard]] std::uint64_t memory_for_largest_node(const operators::Graph& graph);

/// What the values that the cases of a graph's nodes share may take in memory: a quarter of the limit, or less if one
/// of the cases needs the rest, but at least the 64 MiB that memory_needed counts. The rest goes to a temporary file.
[[nodiscard]] std::uint64_t memory_for_values(const cases::Case& subject, std::uint64_t max_memory);

}  // namespace dmlconform::run
