// The innermost integer loop, compiled for several instruction sets. x86-64 has a single instruction that multiplies
// pairs and adds the products.
#include "engine/cpu/product/integer_tile.h"

#include "engine/cpu/wide_registers.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>
#endif

namespace dmlconform::cpu::product {
namespace {

std::int32_t low_number(Pair pair) {
    return static_cast<std::int16_t>(pair);
}

std::int32_t high_number(Pair pair) {
    return static_cast<std::int16_t>(pair >> 16);
}

void pairs_on_any_processor(const Pair* left, std::int64_t left_stride, const Pair* right, std::int64_t depth,
                            std::int32_t* sums, std::int64_t stride) {
    for (std::int64_t i = 0; i < integer_tile_rows; ++i) {
        for (std::int64_t k = 0; k < depth; ++k) {
            const Pair factors = left[i * left_stride + k];
            for (std::int64_t j = 0; j < integer_tile_columns; ++j) {
                const Pair elements = right[k * integer_tile_columns + j];
                sums[i * stride + j] +=
                    low_number(factors) * low_number(elements) + high_number(factors) * high_number(elements);
            }
        }
    }
}

#if DMLCONFORM_HAS_WIDE_REGISTERS

/// 4 rows of 16 columns fill the available registers.
[[gnu::target("avx2")]] void pairs_with_avx2(const Pair* left, std::int64_t left_stride, const Pair* right,
                                             std::int64_t depth, std::int32_t* sums, std::int64_t stride) {
    constexpr std::int64_t rows = 4;
    constexpr std::int64_t columns = 16;
    for (std::int64_t column = 0; column < integer_tile_columns; column += columns) {
        for (std::int64_t first = 0; first < integer_tile_rows; first += rows) {
            std::int32_t* const at = sums + first * stride + column;
            __m256i low_sums[rows];
            __m256i high_sums[rows];
            for (std::int64_t i = 0; i < rows; ++i) {
                low_sums[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + i * stride));
                high_sums[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + i * stride + 8));
            }
            for (std::int64_t k = 0; k < depth; ++k) {
                const auto* const elements =
                    reinterpret_cast<const __m256i*>(right + k * integer_tile_columns + column);
                const __m256i low_elements = _mm256_loadu_si256(elements);
                const __m256i high_elements = _mm256_loadu_si256(elements + 1);
                for (std::int64_t i = 0; i < rows; ++i) {
                    const __m256i factors = _mm256_set1_epi32(static_cast<int>(left[(first + i) * left_stride + k]));
                    low_sums[i] = _mm256_add_epi32(low_sums[i], _mm256_madd_epi16(factors, low_elements));
                    high_sums[i] = _mm256_add_epi32(high_sums[i], _mm256_madd_epi16(factors, high_elements));
                }
            }
            for (std::int64_t i = 0; i < rows; ++i) {
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + i * stride), low_sums[i]);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + i * stride + 8), high_sums[i]);
            }
        }
    }
}

/// The whole tile stays in registers, if the loops over rows are unrolled. There is one array for each register of a
/// row, because GCC keeps arrays of arrays in memory.
[[gnu::target("avx512f,avx512bw,avx512vnni")]] void pairs_with_vnni(const Pair* left, std::int64_t left_stride,
                                                                    const Pair* right, std::int64_t depth,
                                                                    std::int32_t* sums, std::int64_t stride) {
    __m512i sums_0[integer_tile_rows];
    __m512i sums_16[integer_tile_rows];
    __m512i sums_32[integer_tile_rows];
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < integer_tile_rows; ++i) {
        sums_0[i] = _mm512_loadu_si512(sums + i * stride);
        sums_16[i] = _mm512_loadu_si512(sums + i * stride + 16);
        sums_32[i] = _mm512_loadu_si512(sums + i * stride + 32);
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        const Pair* const elements = right + k * integer_tile_columns;
        const __m512i elements_0 = _mm512_loadu_si512(elements);
        const __m512i elements_16 = _mm512_loadu_si512(elements + 16);
        const __m512i elements_32 = _mm512_loadu_si512(elements + 32);
#pragma GCC unroll 8
        for (std::int64_t i = 0; i < integer_tile_rows; ++i) {
            const __m512i factors = _mm512_set1_epi32(static_cast<int>(left[i * left_stride + k]));
            sums_0[i] = _mm512_dpwssd_epi32(sums_0[i], factors, elements_0);
            sums_16[i] = _mm512_dpwssd_epi32(sums_16[i], factors, elements_16);
            sums_32[i] = _mm512_dpwssd_epi32(sums_32[i], factors, elements_32);
        }
    }
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < integer_tile_rows; ++i) {
        _mm512_storeu_si512(sums + i * stride, sums_0[i]);
        _mm512_storeu_si512(sums + i * stride + 16, sums_16[i]);
        _mm512_storeu_si512(sums + i * stride + 32, sums_32[i]);
    }
}

#endif

}  // namespace

std::vector<IntegerTile> integer_tiles() {
    std::vector<IntegerTile> tiles{pairs_on_any_processor};
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx2()) {
        tiles.push_back(pairs_with_avx2);
    }
    if (has_avx512() && __builtin_cpu_supports("avx512vnni") != 0) {
        tiles.push_back(pairs_with_vnni);
    }
#endif
    return tiles;
}

}  // namespace dmlconform::cpu::product
