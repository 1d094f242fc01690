// The innermost loop of products: a few rows times a few columns, along a segment of the depth.
#pragma once

#include <cstdint>

namespace dmlconform::cpu::product {

/// Rows and columns of the small tile. 32 sums fit the registers of processors with AVX2.
inline constexpr std::int64_t tile_rows = 4;
inline constexpr std::int64_t tile_columns = 8;

struct Tile {
    std::int64_t rows = tile_rows;
    std::int64_t columns = tile_columns;
    /// Adds left times right to `sums`, whose rows are `stride` apart, or to 0 if `is_first`, in ascending order of k.
    /// For each k, `left` has `rows` numbers and `right` has `columns`.
    using Add = void (*)(const double* left, const double* right, std::int64_t depth, double* sums, std::int64_t stride,
                         bool is_first);
    Add add = nullptr;
    /// The same for half of the columns, or null.
    Add add_half = nullptr;
};

/// What is added up beside a small tile's sums.
struct SumsBeside {
    /// The square of each sum after each k, fused with its addition.
    double* partial_squares = nullptr;
    /// The magnitudes of the terms; null if they are not wanted.
    double* bounds = nullptr;
    /// Those of the left numbers. Needed for FP32 numbers with bounds.
    const double* left_magnitudes = nullptr;
};

/// The same for a small tile, and for what is beside its sums.
using PartialTile = void (*)(const double* left, const double* right, std::int64_t depth, double* sums,
                             const SumsBeside& beside, std::int64_t stride, bool is_first);

/// The fastest variant for this processor and a product of that many rows and columns. All variants round identically
/// and in the same order: they do not split sums, and for the sums multiplication and addition are fused only for FP32
/// numbers, whose products are exact in double.
[[nodiscard]] Tile fastest_tile(std::int64_t rows, std::int64_t columns, bool of_fp32 = false);
[[nodiscard]] Tile small_tile();
[[nodiscard]] PartialTile fastest_partial_tile(bool with_bounds, bool of_fp32 = false);

/// The variants of any processor, for tests.
[[nodiscard]] Tile portable_tile();

}  // namespace dmlconform::cpu::product
