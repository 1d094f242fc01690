// The innermost loop, compiled for several instruction sets.
#include "engine/cpu/product/tile.h"

#include <cmath>
#include <cstring>

#include "engine/cpu/wide_registers.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>
#endif

namespace dmlconform::cpu::product {
namespace {

void any_processor(const double* left, const double* right, std::int64_t depth, double* sums, std::int64_t stride,
                   bool is_first) {
    // A constant number of sums, which the compiler keeps in registers.
    double sum[tile_rows][tile_columns];
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        for (std::int64_t j = 0; j < tile_columns; ++j) {
            sum[i][j] = is_first ? 0 : sums[i * stride + j];
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

void partial_on_any_processor(const double* left, const double* right, std::int64_t depth, double* sums,
                              const SumsBeside& beside, std::int64_t stride, bool is_first) {
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        double sum[tile_columns];
        double squares[tile_columns];
        double bounds[tile_columns] = {};
        for (std::int64_t j = 0; j < tile_columns; ++j) {
            sum[j] = is_first ? 0 : sums[i * stride + j];
            squares[j] = is_first ? 0 : beside.partial_squares[i * stride + j];
            bounds[j] = is_first || beside.bounds == nullptr ? 0 : beside.bounds[i * stride + j];
        }
        for (std::int64_t k = 0; k < depth; ++k) {
            for (std::int64_t j = 0; j < tile_columns; ++j) {
                const double term = left[k * tile_rows + i] * right[k * tile_columns + j];
                sum[j] += term;
                squares[j] = std::fma(sum[j], sum[j], squares[j]);
                bounds[j] += std::fabs(term);
            }
        }
        for (std::int64_t j = 0; j < tile_columns; ++j) {
            sums[i * stride + j] = sum[j];
            beside.partial_squares[i * stride + j] = squares[j];
            if (beside.bounds != nullptr) {
                beside.bounds[i * stride + j] = bounds[j];
            }
        }
    }
}

#if DMLCONFORM_HAS_WIDE_REGISTERS
/// The same with vectors of four. GCC's code for the loops above takes half as long again.
[[gnu::target("avx2")]] void with_avx2(const double* left, const double* right, std::int64_t depth, double* sums,
                                       std::int64_t stride, bool is_first) {
    using Four [[gnu::vector_size(32)]] = double;
    constexpr std::int64_t fours = tile_columns / 4;
    Four sum[tile_rows][fours] = {};
    for (std::int64_t i = 0; !is_first && i < tile_rows; ++i) {
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

constexpr std::int64_t large_rows = 8;
constexpr std::int64_t large_columns = 16;

/// At most 16 vectors of eight sums. `add` adds a product to a sum.
template <std::int64_t columns, class Add>
[[gnu::always_inline, gnu::target("avx512f")]] inline void add_large_tile(const double* left, const double* right,
                                                                          std::int64_t depth, double* sums,
                                                                          std::int64_t stride, bool is_first,
                                                                          const Add& add) {
    constexpr std::int64_t eights = columns / 8;
    __m512d sum[large_rows][eights];
    for (std::int64_t i = 0; i < large_rows; ++i) {
        for (std::int64_t j = 0; j < eights; ++j) {
            sum[i][j] = is_first ? _mm512_setzero_pd() : _mm512_loadu_pd(sums + i * stride + j * 8);
        }
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        __m512d row[eights];
        for (std::int64_t j = 0; j < eights; ++j) {
            row[j] = _mm512_loadu_pd(right + k * columns + j * 8);
        }
        for (std::int64_t i = 0; i < large_rows; ++i) {
            const __m512d factor = _mm512_set1_pd(left[k * large_rows + i]);
            for (std::int64_t j = 0; j < eights; ++j) {
                sum[i][j] = add(factor, row[j], sum[i][j]);
            }
        }
    }
    for (std::int64_t i = 0; i < large_rows; ++i) {
        for (std::int64_t j = 0; j < eights; ++j) {
            _mm512_storeu_pd(sums + i * stride + j * 8, sum[i][j]);
        }
    }
}

struct Separately {
    [[gnu::always_inline, gnu::target("avx512f")]] __m512d operator()(__m512d a, __m512d b, __m512d sum) const {
        return _mm512_add_pd(sum, _mm512_mul_pd(a, b));
    }
};

struct Fused {
    [[gnu::always_inline, gnu::target("avx512f")]] __m512d operator()(__m512d a, __m512d b, __m512d sum) const {
        return _mm512_fmadd_pd(a, b, sum);
    }
};

template <std::int64_t columns, class Add>
[[gnu::target("avx512f")]] void with_avx512(const double* left, const double* right, std::int64_t depth, double* sums,
                                            std::int64_t stride, bool is_first) {
    add_large_tile<columns>(left, right, depth, sums, stride, is_first, Add{});
}

template <class Add>
constexpr Tile large_tile{.rows = large_rows,
                          .columns = large_columns,
                          .add = with_avx512<large_columns, Add>,
                          .add_half = with_avx512<large_columns / 2, Add>};

/// Processes half of the rows at a time, so that all sums stay in registers.
template <bool with_bounds>
[[gnu::target("avx2,fma")]] void partial_with_avx2(const double* left, const double* right, std::int64_t depth,
                                                   double* sums, const SumsBeside& beside, std::int64_t stride,
                                                   bool is_first) {
    using Four [[gnu::vector_size(32)]] = double;
    using FourBits [[gnu::vector_size(32)]] = std::uint64_t;
    constexpr std::int64_t fours = tile_columns / 4;
    constexpr std::int64_t rows = tile_rows / 2;
    constexpr std::uint64_t without_sign = ~std::uint64_t{0} >> 1;
    for (std::int64_t first = 0; first < tile_rows; first += rows) {
        Four sum[rows][fours] = {};
        Four squares[rows][fours] = {};
        Four bounds[rows][fours] = {};
        for (std::int64_t i = 0; !is_first && i < rows; ++i) {
            for (std::int64_t j = 0; j < fours; ++j) {
                const std::int64_t at = (first + i) * stride + j * 4;
                std::memcpy(&sum[i][j], sums + at, sizeof(Four));
                std::memcpy(&squares[i][j], beside.partial_squares + at, sizeof(Four));
                if constexpr (with_bounds) {
                    std::memcpy(&bounds[i][j], beside.bounds + at, sizeof(Four));
                }
            }
        }
        for (std::int64_t k = 0; k < depth; ++k) {
            Four row[fours];
            for (std::int64_t j = 0; j < fours; ++j) {
                std::memcpy(&row[j], right + k * tile_columns + j * 4, sizeof(Four));
            }
            for (std::int64_t i = 0; i < rows; ++i) {
                const double factor = left[k * tile_rows + first + i];
                for (std::int64_t j = 0; j < fours; ++j) {
                    const Four term = factor * row[j];
                    sum[i][j] += term;
                    squares[i][j] = static_cast<Four>(_mm256_fmadd_pd(sum[i][j], sum[i][j], squares[i][j]));
                    if constexpr (with_bounds) {
                        const FourBits magnitude = __builtin_bit_cast(FourBits, term) & without_sign;
                        bounds[i][j] += __builtin_bit_cast(Four, magnitude);
                    }
                }
            }
        }
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < fours; ++j) {
                const std::int64_t at = (first + i) * stride + j * 4;
                std::memcpy(sums + at, &sum[i][j], sizeof(Four));
                std::memcpy(beside.partial_squares + at, &squares[i][j], sizeof(Four));
                if constexpr (with_bounds) {
                    std::memcpy(beside.bounds + at, &bounds[i][j], sizeof(Four));
                }
            }
        }
    }
}

/// Rounds products before they are added.
struct RoundedTerms {
    [[gnu::always_inline, gnu::target("avx512f,avx512dq")]] static void add(const double* left,
                                                                            const double* /*left_magnitudes*/,
                                                                            std::int64_t at, const __m512d& row,
                                                                            const __m512d& /*magnitudes*/, __m512d& sum,
                                                                            __m512d* bound) {
        const __m512d term = _mm512_mul_pd(_mm512_set1_pd(left[at]), row);
        sum = _mm512_add_pd(sum, term);
        if (bound != nullptr) {
            *bound = _mm512_add_pd(*bound, _mm512_abs_pd(term));
        }
    }
};

/// Products of FP32 numbers, which are exact.
struct ExactTerms {
    [[gnu::always_inline, gnu::target("avx512f,avx512dq")]] static void add(const double* left,
                                                                            const double* left_magnitudes,
                                                                            std::int64_t at, const __m512d& row,
                                                                            const __m512d& magnitudes, __m512d& sum,
                                                                            __m512d* bound) {
        sum = _mm512_fmadd_pd(_mm512_set1_pd(left[at]), row, sum);
        if (bound != nullptr) {
            *bound = _mm512_fmadd_pd(_mm512_set1_pd(left_magnitudes[at]), magnitudes, *bound);
        }
    }
};

/// The same with vectors of eight, for all rows at once. `Terms` adds up terms and their magnitudes.
template <bool with_bounds, class Terms>
[[gnu::target("avx512f,avx512dq")]] void partial_with_avx512(const double* left, const double* right,
                                                             std::int64_t depth, double* sums, const SumsBeside& beside,
                                                             std::int64_t stride, bool is_first) {
    static_assert(tile_columns == 8);
    __m512d sum[tile_rows];
    __m512d squares[tile_rows];
    __m512d bounds[tile_rows];
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        const __m512d zero = _mm512_setzero_pd();
        sum[i] = is_first ? zero : _mm512_loadu_pd(sums + i * stride);
        squares[i] = is_first ? zero : _mm512_loadu_pd(beside.partial_squares + i * stride);
        bounds[i] = is_first || !with_bounds ? zero : _mm512_loadu_pd(beside.bounds + i * stride);
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        const __m512d row = _mm512_loadu_pd(right + k * tile_columns);
        const __m512d magnitudes = _mm512_abs_pd(row);
        for (std::int64_t i = 0; i < tile_rows; ++i) {
            const std::int64_t at = k * tile_rows + i;
            Terms::add(left, beside.left_magnitudes, at, row, magnitudes, sum[i], with_bounds ? &bounds[i] : nullptr);
            squares[i] = _mm512_fmadd_pd(sum[i], sum[i], squares[i]);
        }
    }
    for (std::int64_t i = 0; i < tile_rows; ++i) {
        _mm512_storeu_pd(sums + i * stride, sum[i]);
        _mm512_storeu_pd(beside.partial_squares + i * stride, squares[i]);
        if constexpr (with_bounds) {
            _mm512_storeu_pd(beside.bounds + i * stride, bounds[i]);
        }
    }
}
#endif

}  // namespace

Tile small_tile() {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx2()) {
        return {.add = with_avx2};
    }
#endif
    return {.add = any_processor};
}

Tile fastest_tile([[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t columns,
                  [[maybe_unused]] bool of_fp32) {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx512() && rows > tile_rows && columns > tile_columns) {
        return of_fp32 ? large_tile<Fused> : large_tile<Separately>;
    }
#endif
    return small_tile();
}

PartialTile fastest_partial_tile([[maybe_unused]] bool with_bounds, [[maybe_unused]] bool of_fp32) {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx512()) {
        return !with_bounds ? partial_with_avx512<false, RoundedTerms>
               : of_fp32    ? partial_with_avx512<true, ExactTerms>
                            : partial_with_avx512<true, RoundedTerms>;
    }
    if (has_avx2() && __builtin_cpu_supports("fma") != 0) {
        return with_bounds ? partial_with_avx2<true> : partial_with_avx2<false>;
    }
#endif
    return partial_on_any_processor;
}

Tile portable_tile() {
    return {.add = any_processor};
}

}  // namespace dmlconform::cpu::product
