// Computes products in blocks that stay in the caches.
#include "engine/cpu/product/factors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/cpu/parallel.h"
#include "engine/cpu/product/tile.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

// A block of the right matrix has 512 KiB, one of the sums at most 1 MiB.
constexpr std::int64_t block_depth = 256;
constexpr std::int64_t block_columns = 256;
constexpr std::int64_t block_rows = 512;
// With a single row there is no block of the right matrix, so only the sums must fit the cache.
constexpr std::int64_t block_columns_of_one_row = 4096;

std::int64_t blocks(std::int64_t size, std::int64_t block) {
    return (size + block - 1) / block;
}

std::int64_t block_columns_of(const Shape& shape) {
    return shape.rows == 1 ? block_columns_of_one_row : block_columns;
}

/// A value or bound as this part needs it. Bounds are never negative.
double in_part(Part part, double x) {
    return part == Part::values ? x : part == Part::bounds ? std::fabs(x) : x * x;
}

/// One thread, which computes one block of a batch's sums after another.
class Worker {
public:
    Worker(const Factors& factors, bool with_bounds, const std::function<void(const Sums&)>& take)
        : factors_(factors),
          with_bounds_(with_bounds),
          has_squares_(with_bounds && !(factors.left().bounds.empty() && factors.right().bounds.empty())),
          take_(take),
          tile_(fastest_tile()),
          partial_tile_(fastest_partial_tile()) {}

    void compute(std::int64_t batch, std::int64_t first_row, std::int64_t first_column) {
        const Shape& shape = factors_.shape();
        batch_ = batch;
        first_row_ = first_row;
        first_column_ = first_column;
        rows_ = std::min(block_rows, shape.rows - first_row);
        columns_ = std::min(block_columns_of(shape), shape.columns - first_column);
        sum(Part::values, values_);
        if (with_bounds_) {
            sum(Part::bounds, bounds_);
        }
        if (has_squares_) {
            sum(Part::squares, squares_);
        }
        for (std::int64_t row = 0; row < rows_; ++row) {
            const auto at = static_cast<std::size_t>(row * stride());
            take_({batch, first_row + row, first_column, columns_, &values_[at], with_bounds_ ? &bounds_[at] : nullptr,
                   with_bounds_ ? &partial_squares_[at] : nullptr, has_squares_ ? &squares_[at] : nullptr});
        }
    }

private:
    [[nodiscard]] std::int64_t stride() const { return blocks(columns_, tile_columns) * tile_columns; }

    void sum(Part part, std::vector<double>& sums) {
        const std::int64_t depth = factors_.shape().depth;
        sums.assign(static_cast<std::size_t>(blocks(rows_, tile_rows) * tile_rows * stride()), 0);
        const bool with_partial_sums = with_bounds_ && part == Part::values;
        if (with_partial_sums) {
            partial_squares_.assign(sums.size(), 0);
        }
        if (rows_ == 1 && part == Part::values && !with_bounds_) {
            // A tile would compute several rows, of which only one is needed.
            factors_.add_row(batch_, first_row_, first_column_, columns_, sums.data());
            return;
        }
        for (std::int64_t k = 0; k < depth; k += block_depth) {
            const std::int64_t count = std::min(block_depth, depth - k);
            load_right(part, k, count);
            for (std::int64_t row = 0; row < rows_; row += tile_rows) {
                load_left(part, row, k, count);
                for (std::int64_t column = 0; column < columns_; column += tile_columns) {
                    const double* const right = &right_[static_cast<std::size_t>(column * count)];
                    const auto to = static_cast<std::size_t>(row * stride() + column);
                    if (with_partial_sums) {
                        partial_tile_(left_.data(), right, count, &sums[to], &partial_squares_[to], stride());
                    } else {
                        tile_(left_.data(), right, count, &sums[to], stride());
                    }
                }
            }
        }
    }

    /// Loads tile_rows rows of the left matrix, followed by zeros beyond the last one.
    void load_left(Part part, std::int64_t row, std::int64_t k, std::int64_t count) {
        const Numbers& left = factors_.left();
        const std::vector<double>& from = part == Part::values || left.bounds.empty() ? left.values : left.bounds;
        left_.assign(static_cast<std::size_t>(tile_rows * count), 0);
        for (std::int64_t i = 0; i < std::min(tile_rows, rows_ - row); ++i) {
            const double* const start = &from[factors_.left_index(batch_, first_row_ + row + i, k)];
            for (std::int64_t x = 0; x < count; ++x) {
                left_[static_cast<std::size_t>(x * tile_rows + i)] = in_part(part, start[x]);
            }
        }
    }

    /// Loads a block of the right matrix in groups of tile_columns columns, followed by zeros beyond the last one.
    void load_right(Part part, std::int64_t k, std::int64_t count) {
        const Numbers& right = factors_.right();
        const std::vector<double>& from = part == Part::values || right.bounds.empty() ? right.values : right.bounds;
        right_.resize(static_cast<std::size_t>(stride() * count));
        row_.assign(static_cast<std::size_t>(stride()), 0);
        for (std::int64_t i = 0; i < count; ++i) {
            factors_.load_right(from, batch_, k + i, first_column_, columns_, row_.data());
            if (part != Part::values) {
                std::transform(row_.begin(), row_.end(), row_.begin(), [&](double x) { return in_part(part, x); });
            }
            for (std::int64_t column = 0; column < columns_; column += tile_columns) {
                std::copy_n(&row_[static_cast<std::size_t>(column)], tile_columns,
                            &right_[static_cast<std::size_t>(column * count + i * tile_columns)]);
            }
        }
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
    std::vector<double> left_;
    std::vector<double> right_;
    std::vector<double> row_;
    std::vector<double> values_;
    std::vector<double> bounds_;
    std::vector<double> partial_squares_;
    std::vector<double> squares_;
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

Factors::Factors(const Shape& shape, Numbers left, Numbers right)
    : shape_(shape),
      left_(std::move(left)),
      right_(std::move(right)),
      left_batches_(static_cast<std::int64_t>(left_.values.size()) / (shape.rows * shape.depth)) {}

std::size_t Factors::left_index(std::int64_t batch, std::int64_t row, std::int64_t k) const {
    return static_cast<std::size_t>((batch % left_batches_ * shape_.rows + row) * shape_.depth + k);
}

void Factors::add_row(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
                      double* sums) const {
    for (std::int64_t k = 0; k < shape_.depth; ++k) {
        add_right(right_.values, batch, k, column, count, left_.values[left_index(batch, row, k)], sums);
    }
}

std::int64_t MatrixFactors::right_index(std::int64_t batch, std::int64_t k, std::int64_t column) const {
    return (batch * shape().depth + k) * shape().columns + column;
}

void MatrixFactors::load_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                               std::int64_t count, double* to) const {
    std::copy_n(&from[static_cast<std::size_t>(right_index(batch, k, column))], count, to);
}

void MatrixFactors::add_right(const std::vector<double>& from, std::int64_t batch, std::int64_t k, std::int64_t column,
                              std::int64_t count, double factor, double* sums) const {
    add_products(&from[static_cast<std::size_t>(right_index(batch, k, column))], 1, count, factor, sums, 1);
}

void add_products(const double* elements, std::int64_t stride, std::int64_t count, double factor, double* sums,
                  std::int64_t step) {
    if (stride != 1 || step != 1) {
        for (std::int64_t i = 0; i < count; ++i) {
            sums[i * step] += factor * elements[i * stride];
        }
        return;
    }
    in_wide_registers([&] {
        for (std::int64_t i = 0; i < count; ++i) {
            sums[i] += factor * elements[i];
        }
    });
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
