// The innermost loop of a product of 9-bit numbers: a few rows of the left matrix times a few columns of the right one,
// with 32-bit sums.
#pragma once

#include <cstdint>
#include <vector>

namespace dmlconform::cpu::product {

/// Two 16-bit numbers, the first one in the low half. Multiplying two pairs adds both products to a sum.
using Pair = std::uint32_t;

[[nodiscard]] inline constexpr Pair pair_of(int low, int high) {
    return static_cast<std::uint16_t>(low) | static_cast<Pair>(static_cast<std::uint16_t>(high)) << 16;
}

inline constexpr std::int64_t integer_tile_rows = 8;
inline constexpr std::int64_t integer_tile_columns = 48;

/// The number of pairs of byte differences whose products fit a sum: 33025 products of at most 255 * 255 do.
inline constexpr std::int64_t most_pairs_in_a_sum = 16384;

/// Adds the products of `depth` pairs to a tile of sums, whose rows are `stride` apart. Rows of the left matrix are
/// `left_stride` apart. The right matrix is packed: integer_tile_columns pairs for each k.
using IntegerTile = void (*)(const Pair* left, std::int64_t left_stride, const Pair* right, std::int64_t depth,
                             std::int32_t* sums, std::int64_t stride);

/// All variants that this processor can execute, the fastest one last.
[[nodiscard]] std::vector<IntegerTile> integer_tiles();

}  // namespace dmlconform::cpu::product
