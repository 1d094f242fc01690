// Random data for model inputs, such that the operators that read them accept them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cases/initialiser.h"
#include "engine/core/tensor_desc.h"
#include "engine/operators/graph.h"

namespace dmlconform::interop {

/// For each of Graph::values, the number of valid values of an index or length, counted from 0, according to the
/// operators that read it, also through copies and casts. Empty for other values.
[[nodiscard]] std::vector<std::optional<std::uint64_t>> index_limits(const operators::Graph& graph);

/// Data for a packed tensor. Normal distribution for floating point, below `limit` for indices, all values for 8 bits,
/// otherwise small numbers. With `is_bool`, 0 and 1.
[[nodiscard]] cases::Initialiser random_input(core::DataType type, const core::Dimensions& sizes, bool is_bool,
                                              std::optional<std::uint64_t> limit, std::uint64_t seed);

}  // namespace dmlconform::interop
