// The innermost loop of a product of numbers of 9 bits: so many rows of the left matrix times so many columns of the
// right one, in sums of 32 bits.
#pragma once

#include <cstdint>
#include <vector>

namespace dmlconform::cpu::product {

/// Two numbers of 16 bits, the first one in the low half. They meet another pair: both products are added to a sum.
using Pair = std::uint32_t;

[[nodiscard]] inline constexpr Pair pair_of(int low, int high) {
    return static_cast<std::uint16_t>(low) | static_cast<Pair>(static_cast<std::uint16_t>(high)) << 16;
}

inline constexpr std::int64_t integer_tile_rows = 8;
inline constexpr std::int64_t integer_tile_columns = 48;

/// Pairs of differences of bytes whose products fit into a sum: 33025 products do, each of 255 * 255.
inline constexpr std::int64_t most_pairs_in_a_sum = 16384;

/// Adds the products of `depth` pairs to a tile of sums, whose rows are `stride` apart. Rows of the left matrix are
/// `left_stride` apart. The right one is packed: integer_tile_columns pairs after the other.
using IntegerTile = void (*)(const Pair* left, std::int64_t left_stride, const Pair* right, std::int64_t depth,
                             std::int32_t* sums, std::int64_t stride);

/// All that this processor can execute, the fastest one last.
[[nodiscard]] std::vector<IntegerTile> integer_tiles();

}  // namespace dmlconform::cpu::product
