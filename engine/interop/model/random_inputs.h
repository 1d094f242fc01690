// Random data for model inputs, such that the operators that read them accept them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/interop/model/graph_builder.h"

namespace dmlconform::interop {

/// For each of Graph::values, the number of valid values of an index or length, counted from 0, according to the
/// operators that read it, also through copies and casts. Empty for other values.
[[nodiscard]] std::vector<std::optional<std::uint64_t>> index_limits(const operators::Graph& graph);

/// Normal distribution for floating point, below `limit` for indices, both values for BOOL, all values for 8 bits,
/// otherwise small numbers.
[[nodiscard]] cases::Initialiser random_input(const OnnxTensor& tensor, std::optional<std::uint64_t> limit,
                                              std::uint64_t seed);

}  // namespace dmlconform::interop
