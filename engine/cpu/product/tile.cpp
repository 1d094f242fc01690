// The loop, compiled for more than one set of instructions.
#include "engine/cpu/product/tile.h"

// Compilers like GCC compile one function for other processors than the rest of the program.
#if defined(__GNUC__) && defined(__x86_64__)
#define DMLCONFORM_HAS_AVX2_TILE 1
#define DMLCONFORM_INLINE [[gnu::always_inline]] inline
#else
#define DMLCONFORM_HAS_AVX2_TILE 0
#define DMLCONFORM_INLINE inline
#endif

namespace dmlconform::cpu::product {
namespace {

/// The sums stay in registers: the compiler knows how many there are.
DMLCONFORM_INLINE void multiply_tile(const double* left, const double* right, std::int64_t depth, double* sums,
                                     std::int64_t stride) {
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

void any_processor(const double* left, const double* right, std::int64_t depth, double* sums, std::int64_t stride) {
    multiply_tile(left, right, depth, sums, stride);
}

#if DMLCONFORM_HAS_AVX2_TILE
[[gnu::target("avx2")]] void with_avx2(const double* left, const double* right, std::int64_t depth, double* sums,
                                       std::int64_t stride) {
    multiply_tile(left, right, depth, sums, stride);
}
#endif

}  // namespace

Tile fastest_tile() {
#if DMLCONFORM_HAS_AVX2_TILE
    if (__builtin_cpu_supports("avx2")) {
        return with_avx2;
    }
#endif
    return any_processor;
}

Tile portable_tile() {
    return any_processor;
}

}  // namespace dmlconform::cpu::product
