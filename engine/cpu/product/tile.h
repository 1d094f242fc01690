// The innermost loop of products: a few rows times a few columns, along a stretch of the depth.
#pragma once

#include <cstdint>

namespace dmlconform::cpu::product {

/// Of the tile, in numbers. 32 sums fit the registers of processors with AVX2.
inline constexpr std::int64_t tile_rows = 4;
inline constexpr std::int64_t tile_columns = 8;

/// Adds left times right to `sums`, whose rows are `stride` apart, one k after the other. `left` has tile_rows numbers
/// for each k, `right` has tile_columns.
using Tile = void (*)(const double* left, const double* right, std::int64_t depth, double* sums, std::int64_t stride);

/// The fastest one for this processor. All make the same roundings in the same order: products are not fused with
/// additions, and no sum is split.
[[nodiscard]] Tile fastest_tile();

/// Those that this processor has, for tests.
[[nodiscard]] Tile portable_tile();

}  // namespace dmlconform::cpu::product
