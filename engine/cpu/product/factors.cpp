// Computes products in blocks that stay in the caches.
#include "engine/cpu/product/factors.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "engine/cpu/aligned_numbers.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/prefetch.h"
#include "engine/cpu/product/right_block.h"
#include "engine/cpu/product/tile.h"
#include "engine/cpu/wide_registers.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>
#endif

namespace dmlconform::cpu::product {
namespace {

// A block of the right matrix has 512 KiB, one of the sums at most 1 MiB.
constexpr std::int64_t block_depth = 256;
constexpr std::int64_t block_columns = 256;
constexpr std::int64_t block_rows = 512;
// Two lines of the caches, so that the rows of a block's tiles do not all fall into the same sets of a cache.
constexpr std::int64_t between_tiles = 16;
// With a single row there is no block of the right matrix, so only the sums must fit the cache.
constexpr std::int64_t block_columns_of_one_row = 4096;

std::int64_t blocks(std::int64_t size, std::int64_t block) {
    return (size + block - 1) / block;
}

std::int64_t block_columns_of(const Shape& shape) {
    return shape.rows == 1 ? block_columns_of_one_row : block_columns;
}

/// Numbers that are written before they are read, so that fresh memory is not filled with zeros first.
class Scratch {
public:
    double* of_size(std::int64_t count) {
        if (count > size_) {
            RegisterAligned<double> allocator;
            numbers_ = {allocator.allocate(static_cast<std::size_t>(count)), Deleter()};
            size_ = count;
        }
        return numbers_.get();
    }
    [[nodiscard]] const double* data() const { return numbers_.get(); }

private:
    struct Deleter {
        void operator()(double* numbers) const { RegisterAligned<double>().deallocate(numbers, 0); }
    };
    std::unique_ptr<double[], Deleter> numbers_;
    std::int64_t size_ = 0;
};

/// One thread, which computes one block of a batch's sums after another.
class Worker {
public:
    Worker(const Factors& factors, bool with_bounds, const std::function<void(const Sums&)>& take)
        : factors_(factors),
          with_bounds_(with_bounds),
          has_squares_(with_bounds && has_own_bounds()),
          take_(take),
          tile_(with_bounds ? small_tile() : fastest_tile(factors.shape().rows, factors.shape().columns, are_fp32())),
          partial_tile_(fastest_partial_tile(!has_own_bounds(), are_fp32())),
          right_block_(factors) {}

    void compute(std::int64_t batch, std::int64_t first_row, std::int64_t first_column) {
        const Shape& shape = factors_.shape();
        batch_ = batch;
        first_row_ = first_row;
        first_column_ = first_column;
        rows_ = std::min(block_rows, shape.rows - first_row);
        columns_ = std::min(block_columns_of(shape), shape.columns - first_column);
        right_block_.select(batch, first_column, columns_);
        sum(Part::values, values_);
        if (has_squares_) {
            sum(Part::bounds, bounds_);
            sum(Part::squares, squares_);
        }
        for (std::int64_t row = 0; row < rows_; ++row) {
            const auto at = static_cast<std::size_t>(row * stride());
            take_({batch, first_row + row, first_column, columns_, &values_[at], with_bounds_ ? &bounds_[at] : nullptr,
                   with_bounds_ ? &partial_squares_[at] : nullptr, has_squares_ ? &squares_[at] : nullptr});
        }
    }

private:
    /// Otherwise the bounds of terms are their magnitudes, which are added up beside the sums.
    [[nodiscard]] bool has_own_bounds() const {
        return !factors_.left().bounds.empty() || !factors_.right().bounds.empty();
    }

    [[nodiscard]] bool are_fp32() const { return factors_.left().are_fp32 && factors_.right().are_fp32; }

    /// The columns of the last tile may be halved.
    [[nodiscard]] bool is_half(std::int64_t column) const {
        return tile_.add_half != nullptr && columns_ - column <= tile_.columns / 2;
    }
    [[nodiscard]] std::int64_t width_of(std::int64_t column) const {
        return is_half(column) ? tile_.columns / 2 : tile_.columns;
    }
    [[nodiscard]] std::int64_t stride() const {
        const std::int64_t last = (columns_ - 1) / tile_.columns * tile_.columns;
        return last + width_of(last);
    }

    void sum(Part part, AlignedNumbers& sums) {
        const std::int64_t depth = factors_.shape().depth;
        if (rows_ == 1 && part == Part::values && !with_bounds_) {
            // A tile would compute several rows, of which only one is needed.
            sums.assign(static_cast<std::size_t>(columns_), 0);
            factors_.add_row(batch_, first_row_, first_column_, columns_, sums.data());
            return;
        }
        const auto size = static_cast<std::size_t>(blocks(rows_, tile_.rows) * tile_.rows * stride());
        const bool with_partial_sums = with_bounds_ && part == Part::values;
        const auto prepare = [&](AlignedNumbers& numbers) {
            depth == 0 ? numbers.assign(size, 0) : numbers.resize(size);
        };
        prepare(sums);
        if (with_partial_sums) {
            prepare(partial_squares_);
            if (!has_squares_) {
                prepare(bounds_);
            }
        }
        const bool needs_magnitudes = with_partial_sums && !has_squares_ && are_fp32();
        for (std::int64_t k = 0; k < depth; k += block_depth) {
            const std::int64_t count = std::min(block_depth, depth - k);
            const bool is_first = k == 0;
            load_right(part, k, count);
            for (std::int64_t row = 0; row < rows_; row += tile_.rows) {
                const double* const left = loaded_left(part, row, k, count);
                const double* const magnitudes = needs_magnitudes ? magnitudes_of(left, count) : nullptr;
                for (std::int64_t column = 0; column < columns_; column += tile_.columns) {
                    const double* const right = right_.data() + column / tile_.columns * tile_distance(count);
                    const auto to = static_cast<std::size_t>(row * stride() + column);
                    if (with_partial_sums) {
                        partial_tile_(left, right, count, &sums[to],
                                      {&partial_squares_[to], has_squares_ ? nullptr : &bounds_[to], magnitudes},
                                      stride(), is_first);
                    } else {
                        (is_half(column) ? tile_.add_half : tile_.add)(left, right, count, &sums[to], stride(),
                                                                       is_first);
                    }
                }
            }
        }
    }

    /// The magnitudes of loaded rows.
    const double* magnitudes_of(const double* left, std::int64_t count) {
        double* const to = magnitudes_.of_size(tile_.rows * count);
        in_wide_registers([&] {
            for (std::int64_t i = 0; i < tile_.rows * count; ++i) {
                to[i] = std::fabs(left[i]);
            }
        });
        return to;
    }

    /// The rows of a tile of the left matrix. What all columns of a row of blocks need is kept for the next block,
    /// unless it is too large for the caches.
    const double* loaded_left(Part part, std::int64_t row, std::int64_t k, std::int64_t count) {
        constexpr std::int64_t most_kept = 1 << 19;
        const std::int64_t depth = factors_.shape().depth;
        const std::int64_t rows = blocks(rows_, tile_.rows) * tile_.rows;
        if (part != Part::values || columns_ == factors_.shape().columns || rows * depth > most_kept) {
            double* const left = left_.of_size(tile_.rows * count);
            load_left(part, row, k, count, left);
            return left;
        }
        const std::size_t first = factors_.left_index(batch_, first_row_, 0);
        if (kept_first_ != first || kept_left_.data() == nullptr) {
            kept_first_ = first;
            double* const kept = kept_left_.of_size(rows * depth);
            for (std::int64_t from = 0; from < depth; from += block_depth) {
                const std::int64_t length = std::min(block_depth, depth - from);
                for (std::int64_t i = 0; i < rows; i += tile_.rows) {
                    load_left(part, i, from, length, kept + from * rows + i * length);
                }
            }
        }
        return kept_left_.data() + k * rows + row * count;
    }

    /// Loads the rows of a tile of the left matrix, followed by zeros beyond the last one.
    void load_left(Part part, std::int64_t row, std::int64_t k, std::int64_t count, double* to) const {
        const Numbers& left = factors_.left();
        const bool is_plain = part == Part::values || left.bounds.empty();
        const Elements from = is_plain ? left.elements() : Elements(left.bounds);
        const std::int64_t rows = std::min(tile_.rows, rows_ - row);
        if (rows < tile_.rows) {
            std::fill_n(to, tile_.rows * count, 0.0);
        }
        if (rows == tile_.rows && part == Part::values) {
            const std::size_t start = factors_.left_index(batch_, first_row_ + row, k);
            const bool has_next = row + 2 * tile_.rows <= rows_;
            from.interleave(start, static_cast<std::size_t>(factors_.shape().depth), tile_.rows, count, to, has_next);
            return;
        }
        for (std::int64_t i = 0; i < rows; ++i) {
            const auto start = static_cast<std::int64_t>(factors_.left_index(batch_, first_row_ + row + i, k));
            from.copy(start, count, to + i, tile_.rows);
            if (part != Part::values) {
                for (std::int64_t x = 0; x < count; ++x) {
                    to[x * tile_.rows + i] = in_part(part, to[x * tile_.rows + i]);
                }
            }
        }
    }

    /// The columns of a tile of the right matrix, of which the block has `count` rows.
    [[nodiscard]] std::int64_t tile_distance(std::int64_t count) const { return tile_.columns * count + between_tiles; }

    void load_right(Part part, std::int64_t k, std::int64_t count) {
        const std::int64_t tiles = blocks(columns_, tile_.columns);
        double* const to = right_.of_size(tiles * tile_distance(count));
        right_block_.load(part, k, count,
                          {.first = to,
                           .distance = tile_distance(count),
                           .count = tiles,
                           .width = tile_.columns,
                           .width_of_last = width_of((tiles - 1) * tile_.columns)});
    }

    const Factors& factors_;
    bool with_bounds_;
    bool has_squares_;
    const std::function<void(const Sums&)>& take_;
    Tile tile_;
    PartialTile partial_tile_;
    std::int64_t batch_ = 0;
    std::int64_t first_row_ = 0;
    std::int64_t first_column_ = 0;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
    Scratch left_;
    Scratch magnitudes_;
    /// The loaded rows of a block, and the index of their first number.
    Scratch kept_left_;
    std::size_t kept_first_ = 0;
    Scratch right_;
    RightBlock right_block_;
    AlignedNumbers values_;
    AlignedNumbers bounds_;
    AlignedNumbers partial_squares_;
    AlignedNumbers squares_;
};

}  // namespace

Shape shape_of(const core::Dimensions& left, bool transposed, const core::Dimensions& output) {
    Shape shape;
    shape.rows = output[output.size() - 2];
    shape.columns = output.back();
    shape.depth = transposed ? left[left.size() - 2] : left.back();
    for (std::size_t d = 0; d + 2 < output.size(); ++d) {
        shape.batches *= output[d];
    }
    return shape;
}

void Elements::copy(std::int64_t first, std::int64_t count, double* to, std::int64_t to_step) const {
    const auto copied = [&](const auto* from) {
        if (to_step == 1) {
            in_wide_registers([&] { std::copy_n(from, count, to); });
            return;
        }
        for (std::int64_t i = 0; i < count; ++i) {
            to[i * to_step] = from[i];
        }
    };
    floats_ == nullptr ? copied(doubles_ + first) : copied(floats_ + first);
}

namespace {

/// A constant number of rows, which are read in parallel. One after the other, each would wait for the memory. The
/// next rows, if there are as many, are loaded into the caches meanwhile.
template <std::int64_t rows, class T>
void interleave_rows(const T* from, std::size_t distance, std::int64_t count, double* to, bool has_next) {
    constexpr std::int64_t of_cache_line = 64 / sizeof(T);
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t row = 0; has_next && k % of_cache_line == 0 && row < rows; ++row) {
            prefetch(from + static_cast<std::size_t>(rows + row) * distance + static_cast<std::size_t>(k));
        }
        for (std::int64_t row = 0; row < rows; ++row) {
            to[k * rows + row] = from[static_cast<std::size_t>(row) * distance + static_cast<std::size_t>(k)];
        }
    }
}

#if DMLCONFORM_HAS_WIDE_REGISTERS
/// The same for eight rows of FP32 numbers, with eight numbers of each at a time.
[[gnu::target("avx512f,avx512dq,avx512vl")]] void interleave_eight_rows(const float* from, std::size_t distance,
                                                                        std::int64_t count, double* to, bool has_next) {
    constexpr std::int64_t rows = 8;
    constexpr std::int64_t of_cache_line = 64 / sizeof(float);
    constexpr __mmask8 all = 0xff;  // GCC 12 warns of what the conversion without a mask leaves undefined.
    const std::int64_t whole = count / rows * rows;
    for (std::int64_t k = 0; k < whole; k += rows) {
        const float* const first = from + k;
        __m256 row[rows];
        for (std::size_t i = 0; i < rows; ++i) {
            row[i] = _mm256_loadu_ps(first + i * distance);
            if (has_next && k % of_cache_line == 0) {
                prefetch(first + (rows + i) * distance);
            }
        }
        // Pairs of numbers of two rows, then of four rows, then of all.
        __m256 two[rows];
        for (std::size_t i = 0; i < rows; i += 2) {
            two[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
            two[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
        }
        __m256 four[rows];
        for (std::size_t i = 0; i < rows; i += 4) {
            four[i] = _mm256_shuffle_ps(two[i], two[i + 2], 0x44);
            four[i + 1] = _mm256_shuffle_ps(two[i], two[i + 2], 0xee);
            four[i + 2] = _mm256_shuffle_ps(two[i + 1], two[i + 3], 0x44);
            four[i + 3] = _mm256_shuffle_ps(two[i + 1], two[i + 3], 0xee);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            const __m256 low = _mm256_permute2f128_ps(four[i], four[i + 4], 0x20);
            const __m256 high = _mm256_permute2f128_ps(four[i], four[i + 4], 0x31);
            double* const target = to + (k + static_cast<std::int64_t>(i)) * rows;
            _mm512_storeu_pd(target, _mm512_maskz_cvtps_pd(all, low));
            _mm512_storeu_pd(target + 4 * rows, _mm512_maskz_cvtps_pd(all, high));
        }
    }
    interleave_rows<rows>(from + whole, distance, count - whole, to + whole * rows, false);
}
#endif

}  // namespace

void Elements::interleave(std::size_t first, std::size_t distance, std::int64_t rows, std::int64_t count, double* to,
                          bool has_next) const {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (floats_ != nullptr && rows == 8 && has_avx512()) {
        interleave_eight_rows(floats_ + first, distance, count, to, has_next);
        return;
    }
#endif
    const auto interleaved = [&](const auto* from) {
        rows == 4 ? interleave_rows<4>(from, distance, count, to, has_next)
                  : interleave_rows<8>(from, distance, count, to, has_next);
    };
    floats_ == nullptr ? interleaved(doubles_ + first) : interleaved(floats_ + first);
}

Factors::Factors(const Shape& shape, Numbers left, Numbers right)
    : shape_(shape),
      left_(std::move(left)),
      right_(std::move(right)),
      left_batches_(static_cast<std::int64_t>(left_.count()) / (shape.rows * shape.depth)) {}

std::size_t Factors::left_index(std::int64_t batch, std::int64_t row, std::int64_t k) const {
    return static_cast<std::size_t>((batch % left_batches_ * shape_.rows + row) * shape_.depth + k);
}

void Factors::add_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                      double* sums) const {
    for (std::int64_t k = 0; k < shape_.depth; ++k) {
        add_right(right_.elements(), batch, k, column, count, left_.elements()[left_index(batch, row, k)], sums);
    }
}

std::int64_t MatrixFactors::right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const {
    return (batch * shape().depth + k) * shape().columns + column;
}

void MatrixFactors::find_right(std::int64_t batch, std::int64_t k, std::int64_t column, std::int64_t count,
                               std::vector<RightSegment>& segments) const {
    segments.push_back({.element = right_index(batch, k, column), .count = count});
}

void MatrixFactors::add_right(const Elements& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                              std::int64_t count, double factor, double* sums) const {
    from.add_products(right_index(batch, k, column), 1, count, factor, sums, 1);
}

void Elements::add_products(std::int64_t first, std::int64_t step, std::int64_t count, double factor, double* sums,
                            std::int64_t to_step) const {
    const auto added = [&](const auto* from) {
        if (step != 1 || to_step != 1) {
            for (std::int64_t i = 0; i < count; ++i) {
                sums[i * to_step] += factor * double{from[i * step]};
            }
            return;
        }
        in_wide_registers([&] {
            for (std::int64_t i = 0; i < count; ++i) {
                sums[i] += factor * double{from[i]};
            }
        });
    };
    floats_ == nullptr ? added(doubles_ + first) : added(floats_ + first);
}

void multiply(const Factors& factors, bool with_bounds, const std::function<void(const Sums&)>& take) {
    const Shape& shape = factors.shape();
    const std::int64_t rows = blocks(shape.rows, block_rows);
    const std::int64_t columns = blocks(shape.columns, block_columns_of(shape));
    const std::int64_t cost = std::min(shape.rows, block_rows) * std::min(shape.columns, block_columns_of(shape)) *
                              std::min<std::int64_t>(shape.depth, 1'000'000) / 4;
    parallel_for(shape.batches * rows * columns, cost, [&](std::int64_t first, std::int64_t last) {
        Worker worker(factors, with_bounds, take);
        for (std::int64_t block = first; block < last; ++block) {
            worker.compute(block / columns / rows, block / columns % rows * block_rows,
                           block % columns * block_columns_of(shape));
        }
    });
}

}  // namespace dmlconform::cpu::product
