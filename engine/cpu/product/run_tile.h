// The innermost loop of products for several runs of a graph at once: a few rows times a few columns in FP32. Each
// column has one number for each run.
#pragma once

#include <array>
#include <cstdint>

namespace dmlconform::cpu::product {

/// The number of runs that are computed at once: 16 FP32 numbers fit one register of processors with AVX-512.
inline constexpr std::int64_t run_lanes = 16;
inline constexpr std::int64_t run_tile_rows = 4;
inline constexpr std::int64_t run_tile_columns = 6;
/// The number of sums of a tile: [rows][columns][runs].
inline constexpr std::int64_t run_tile_sums = run_tile_rows * run_tile_columns * run_lanes;

/// Adds left times right to the sums of a tile, or to 0 if `is_first`, in ascending order of k. For each k, `left` has
/// a number for each row, and `right` has the numbers of all runs for each column. A product is not rounded before it
/// is added. So all variants round identically, and the sums of a run do not depend on the other runs.
using RunTile = void (*)(const float* left, const float* right, std::int64_t depth, float* sums, bool is_first);

/// a * b + c, rounded once, for processors without an instruction for that.
[[nodiscard]] float multiply_add(float a, float b, float c);

/// The fastest variant for this processor.
[[nodiscard]] RunTile fastest_run_tile();

/// The address of the numbers of all runs for a column, in a layout of tiles: columns of a tile are adjacent, tiles are
/// `tile_stride` apart.
struct RunColumns {
    float* first = nullptr;
    std::int64_t tile_stride = 0;

    [[nodiscard]] float* at(std::int64_t column) const {
        return first + column / run_tile_columns * tile_stride + column % run_tile_columns * run_lanes;
    }
};

/// Sets the numbers of `count` columns from `column` to runs[run][i] - reference[i], rounded to FP32. Elements are
/// `step` apart.
void interleave_deviations(const std::array<const float*, run_lanes>& runs, const float* reference, std::int64_t step,
                           std::int64_t count, const RunColumns& to, std::int64_t column);

/// Sets to[run * stride + i] to the number of each run in column i. Returns whether all numbers are finite.
[[nodiscard]] bool separate_runs(const RunColumns& from, std::int64_t count, float* to, std::int64_t stride);

}  // namespace dmlconform::cpu::product
