// The innermost loop of products: a few rows times a few columns, along a segment of the depth.
#pragma once

#include <cstdint>

namespace dmlconform::cpu::product {

/// Size of a tile. 32 sums fit the registers of processors with AVX2.
inline constexpr std::int64_t tile_rows = 4;
inline constexpr std::int64_t tile_columns = 8;

/// Adds left times right to `sums`, whose rows are `stride` apart, in ascending order of k. For each k, `left` has
/// tile_rows numbers and `right` tile_columns.
using Tile = void (*)(const double* left, const double* right, std::int64_t depth, double* sums, std::int64_t stride);

/// The same. Also adds to `partial_squares` the square of each sum after each k.
using PartialTile = void (*)(const double* left, const double* right, std::int64_t depth, double* sums,
                             double* partial_squares, std::int64_t stride);

/// The fastest variant for this processor. All variants round identically and in the same order: they use no fused
/// multiply-add and do not split sums.
[[nodiscard]] Tile fastest_tile();
[[nodiscard]] PartialTile fastest_partial_tile();

/// The variants of this processor, for tests.
[[nodiscard]] Tile portable_tile();
[[nodiscard]] PartialTile portable_partial_tile();

}  // namespace dmlconform::cpu::product
