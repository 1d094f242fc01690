// The innermost loop of products for several runs, compiled for several instruction sets.
#include "engine/cpu/product/run_tile.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "engine/cpu/wide_registers.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>
#endif

namespace dmlconform::cpu::product {
namespace {

/// Uses the instruction if all processors that the program is compiled for have it.
float fused(float a, float b, float c) {
#ifdef FP_FAST_FMAF
    return std::fma(a, b, c);
#else
    return multiply_add(a, b, c);
#endif
}

void runs_on_any_processor(const float* left, const float* right, std::int64_t depth, float* sums, bool is_first) {
    constexpr std::int64_t step = run_tile_columns * run_lanes;
    for (std::int64_t i = 0; i < run_tile_rows; ++i) {
        for (std::int64_t j = 0; j < run_tile_columns; ++j) {
            float sum[run_lanes] = {};
            if (!is_first) {
                std::memcpy(sum, sums + i * step + j * run_lanes, sizeof sum);
            }
            for (std::int64_t k = 0; k < depth; ++k) {
                for (std::int64_t run = 0; run < run_lanes; ++run) {
                    sum[run] = fused(left[k * run_tile_rows + i], right[k * step + j * run_lanes + run], sum[run]);
                }
            }
            std::memcpy(sums + i * step + j * run_lanes, sum, sizeof sum);
        }
    }
}

#if DMLCONFORM_HAS_WIDE_REGISTERS
/// Computes half of the columns for half of the runs at a time, so that sums stay in registers.
[[gnu::target("avx2,fma")]] void runs_with_avx2(const float* left, const float* right, std::int64_t depth, float* sums,
                                                bool is_first) {
    constexpr std::int64_t columns = run_tile_columns / 2;
    constexpr std::int64_t step = run_tile_columns * run_lanes;
    for (std::int64_t part = 0; part < 4; ++part) {
        const std::int64_t offset = part / 2 * columns * run_lanes + part % 2 * 8;
        const float* const numbers = right + offset;
        float* const to = sums + offset;
        __m256 sum[run_tile_rows][columns];
        for (std::int64_t i = 0; i < run_tile_rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
                sum[i][j] = is_first ? _mm256_setzero_ps() : _mm256_loadu_ps(to + i * step + j * run_lanes);
            }
        }
        for (std::int64_t k = 0; k < depth; ++k) {
            __m256 column[columns];
            for (std::int64_t j = 0; j < columns; ++j) {
                column[j] = _mm256_loadu_ps(numbers + k * step + j * run_lanes);
            }
            for (std::int64_t i = 0; i < run_tile_rows; ++i) {
                const __m256 factor = _mm256_set1_ps(left[k * run_tile_rows + i]);
                for (std::int64_t j = 0; j < columns; ++j) {
                    sum[i][j] = _mm256_fmadd_ps(factor, column[j], sum[i][j]);
                }
            }
        }
        for (std::int64_t i = 0; i < run_tile_rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
                _mm256_storeu_ps(to + i * step + j * run_lanes, sum[i][j]);
            }
        }
    }
}

[[gnu::target("avx512f")]] void runs_with_avx512(const float* left, const float* right, std::int64_t depth, float* sums,
                                                 bool is_first) {
    constexpr std::int64_t step = run_tile_columns * run_lanes;
    __m512 sum[run_tile_rows][run_tile_columns];
    for (std::int64_t i = 0; i < run_tile_rows; ++i) {
        for (std::int64_t j = 0; j < run_tile_columns; ++j) {
            sum[i][j] = is_first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + i * step + j * run_lanes);
        }
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        __m512 column[run_tile_columns];
        for (std::int64_t j = 0; j < run_tile_columns; ++j) {
            column[j] = _mm512_loadu_ps(right + k * step + j * run_lanes);
        }
        for (std::int64_t i = 0; i < run_tile_rows; ++i) {
            const __m512 factor = _mm512_set1_ps(left[k * run_tile_rows + i]);
            for (std::int64_t j = 0; j < run_tile_columns; ++j) {
                sum[i][j] = _mm512_fmadd_ps(factor, column[j], sum[i][j]);
            }
        }
    }
    for (std::int64_t i = 0; i < run_tile_rows; ++i) {
        for (std::int64_t j = 0; j < run_tile_columns; ++j) {
            _mm512_storeu_ps(sums + i * step + j * run_lanes, sum[i][j]);
        }
    }
}

/// One stage of a transposition: exchanges the off-diagonal blocks of `distance` rows and lanes.
template <int distance>
[[gnu::always_inline, gnu::target("avx512f")]] inline void exchange_blocks(__m512 (&rows)[run_lanes]) {
    // Lanes 0 … 15 are those of the first row, 16 … 31 those of the second one.
    alignas(64) std::int32_t first[run_lanes];
    alignas(64) std::int32_t second[run_lanes];
    for (int lane = 0; lane < run_lanes; ++lane) {
        const bool is_upper = (lane & distance) != 0;
        first[lane] = is_upper ? 16 + lane - distance : lane;
        second[lane] = is_upper ? 16 + lane : lane + distance;
    }
    const __m512i of_first = _mm512_load_si512(first);
    const __m512i of_second = _mm512_load_si512(second);
    for (int i = 0; i < run_lanes; ++i) {
        if ((i & distance) == 0) {
            const __m512 a = rows[i];
            const __m512 b = rows[i + distance];
            rows[i] = _mm512_permutex2var_ps(a, of_first, b);
            rows[i + distance] = _mm512_permutex2var_ps(a, of_second, b);
        }
    }
}

[[gnu::always_inline, gnu::target("avx512f")]] inline void transpose_runs(__m512 (&rows)[run_lanes]) {
    exchange_blocks<8>(rows);
    exchange_blocks<4>(rows);
    exchange_blocks<2>(rows);
    exchange_blocks<1>(rows);
}

[[gnu::always_inline, gnu::target("avx512f")]] inline __mmask16 first_lanes(std::int64_t count) {
    return static_cast<__mmask16>(count >= run_lanes ? 0xffff : (1 << count) - 1);
}

[[gnu::target("avx512f")]] void interleave_with_avx512(const std::array<const float*, run_lanes>& runs,
                                                       const float* reference, std::int64_t count, const RunColumns& to,
                                                       std::int64_t column) {
    for (std::int64_t done = 0; done < count; done += run_lanes) {
        const std::int64_t here = count - done < run_lanes ? count - done : run_lanes;
        const __mmask16 mask = first_lanes(here);
        const __m512 expected = _mm512_maskz_loadu_ps(mask, reference + done);
        __m512 rows[run_lanes];
        for (std::size_t run = 0; run < run_lanes; ++run) {
            rows[run] = _mm512_sub_ps(_mm512_maskz_loadu_ps(mask, runs[run] + done), expected);
        }
        transpose_runs(rows);
        for (std::int64_t i = 0; i < here; ++i) {
            _mm512_storeu_ps(to.at(column + done + i), rows[i]);
        }
    }
}

/// Returns whether all numbers are finite: their difference to themselves is 0 then.
[[gnu::target("avx512f")]] bool separate_with_avx512(const RunColumns& from, std::int64_t count, float* to,
                                                     std::int64_t stride) {
    __mmask16 unequal = 0;
    for (std::int64_t done = 0; done < count; done += run_lanes) {
        const std::int64_t here = count - done < run_lanes ? count - done : run_lanes;
        __m512 rows[run_lanes];
        for (std::int64_t i = 0; i < run_lanes; ++i) {
            rows[i] = i < here ? _mm512_loadu_ps(from.at(done + i)) : _mm512_setzero_ps();
            const __m512 difference = _mm512_sub_ps(rows[i], rows[i]);
            unequal = static_cast<__mmask16>(unequal | _mm512_cmp_ps_mask(difference, difference, _CMP_UNORD_Q));
        }
        transpose_runs(rows);
        for (std::int64_t run = 0; run < run_lanes; ++run) {
            _mm512_mask_storeu_ps(to + run * stride + done, first_lanes(here), rows[run]);
        }
    }
    return unequal == 0;
}
#endif

}  // namespace

/// The product is exact in double. The sum is rounded to odd there, so that the rounding to FP32 is the only one that
/// counts: 53 bits are more than 24 and two.
float multiply_add(float a, float b, float c) {
    const double product = double{a} * double{b};
    double sum = product + double{c};
    const double of_product = sum - double{c};
    const double error = (product - of_product) + (double{c} - (sum - of_product));
    if (std::isfinite(sum) && error != 0) {
        const auto bits = std::bit_cast<std::uint64_t>(sum);
        const bool is_odd = (bits & 1) != 0;
        const bool is_away_from_zero = (error > 0) == (sum > 0);
        sum = std::bit_cast<double>(is_odd ? bits : is_away_from_zero ? bits + 1 : bits - 1);
    }
    return static_cast<float>(sum);
}

RunTile fastest_run_tile() {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx512()) {
        return runs_with_avx512;
    }
    if (has_avx2() && __builtin_cpu_supports("fma") != 0) {
        return runs_with_avx2;
    }
#endif
    return runs_on_any_processor;
}

void interleave_deviations(const std::array<const float*, run_lanes>& runs, const float* reference, std::int64_t step,
                           std::int64_t count, const RunColumns& to, std::int64_t column) {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (step == 1 && has_avx512()) {
        interleave_with_avx512(runs, reference, count, to, column);
        return;
    }
#endif
    for (std::int64_t i = 0; i < count; ++i) {
        float* const numbers = to.at(column + i);
        for (std::size_t run = 0; run < run_lanes; ++run) {
            numbers[run] = runs[run][i * step] - reference[i * step];
        }
    }
}

bool separate_runs(const RunColumns& from, std::int64_t count, float* to, std::int64_t stride) {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx512()) {
        return separate_with_avx512(from, count, to, stride);
    }
#endif
    constexpr std::uint32_t exponent = 0x7f800000;
    bool are_finite = true;
    for (std::int64_t i = 0; i < count; ++i) {
        const float* const numbers = from.at(i);
        for (std::int64_t run = 0; run < run_lanes; ++run) {
            to[run * stride + i] = numbers[run];
            are_finite = are_finite && (std::bit_cast<std::uint32_t>(numbers[run]) & exponent) != exponent;
        }
    }
    return are_finite;
}

}  // namespace dmlconform::cpu::product
