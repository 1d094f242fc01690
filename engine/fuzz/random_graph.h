// Random graphs. The n-th graph depends only on seed, level and n, on every machine.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/cases/case.h"
#include "engine/fuzz/case_generator.h"

namespace dmlconform::fuzz {

/// The case `fuzz/GRAPH/7-12`: a graph of 2 to 20 nodes, whose operators have a reference. Shapes fit by construction:
/// each operator is random, and reads existing values that fit, or values of nodes that are made for it. Empty if no
/// legal graph was found.
[[nodiscard]] std::optional<cases::Case> generate_graph(const GeneratorSettings& settings, std::uint64_t number);

}  // namespace dmlconform::fuzz
