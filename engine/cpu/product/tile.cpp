// The loop, compiled for more than one set of instructions.
#include "engine/cpu/product/tile.h"

#include <cstring>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

void any_processor(const double* left, const double* right, std::int64_t depth, double* sums, std::int64_t stride) {
    // They stay in registers: the compiler knows how many there are.
    double sum[tile_rows][tile_columns];
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        for (std::int64_t j = 0; j < tile_columns; ++j) {
            sum[i][j] = sums[i * stride + j];
        }
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t i = 0; i < tile_rows; ++i) {
            for (std::int64_t j = 0; j < tile_columns; ++j) {
                sum[i][j] += left[k * tile_rows + i] * right[k * tile_columns + j];
            }
        }
    }
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        for (std::int64_t j = 0; j < tile_columns; ++j) {
            sums[i * stride + j] = sum[i][j];
        }
    }
}

#if DMLCONFORM_HAS_WIDE_REGISTERS
/// The same in vectors of four. Of the loops above GCC makes code that takes half as long again.
[[gnu::target("avx2")]] void with_avx2(const double* left, const double* right, std::int64_t depth, double* sums,
                                       std::int64_t stride) {
    using Four [[gnu::vector_size(32)]] = double;
    constexpr std::int64_t fours = tile_columns / 4;
    Four sum[tile_rows][fours];
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        for (std::int64_t j = 0; j < fours; ++j) {
            std::memcpy(&sum[i][j], sums + i * stride + j * 4, sizeof(Four));
        }
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        Four row[fours];
        for (std::int64_t j = 0; j < fours; ++j) {
            std::memcpy(&row[j], right + k * tile_columns + j * 4, sizeof(Four));
        }
        for (std::int64_t i = 0; i < tile_rows; ++i) {
            const double factor = left[k * tile_rows + i];
            for (std::int64_t j = 0; j < fours; ++j) {
                sum[i][j] += factor * row[j];
            }
        }
    }
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        for (std::int64_t j = 0; j < fours; ++j) {
            std::memcpy(sums + i * stride + j * 4, &sum[i][j], sizeof(Four));
        }
    }
}
#endif

}  // namespace

Tile fastest_tile() {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx2()) {
        return with_avx2;
    }
#endif
    return any_processor;
}

Tile portable_tile() {
    return any_processor;
}

}  // namespace dmlconform::cpu::product
