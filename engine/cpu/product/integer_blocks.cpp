// Multiplies pairs of 8-bit differences in blocks that stay in the caches.
#include "engine/cpu/product/integer_blocks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "engine/cpu/parallel.h"
#include "engine/cpu/product/pair_image.h"

namespace dmlconform::cpu::product {
namespace {

// A tile of the right matrix has 24 KiB, a block of the left one 128 KiB, one of the sums 192 KiB.
constexpr std::int64_t pairs_in_a_block = 128;
constexpr std::int64_t tiles_in_a_block = 4;
constexpr std::int64_t rows_in_a_block = 256;
constexpr std::int64_t columns_in_a_block = tiles_in_a_block * integer_tile_columns;
static_assert(most_pairs_in_a_sum % pairs_in_a_block == 0);

std::int64_t parts(std::int64_t size, std::int64_t part) {
    return (size + part - 1) / part;
}

/// The filters of all groups. Each group is padded with rows of zeros to fill a tile.
class PairFilters {
public:
    explicit PairFilters(const IntegerConvolution& given, const UnfoldedAxes& axes)
        : rows_(parts(given.convolution.output_channels, integer_tile_rows) * integer_tile_rows),
          depth_(pairs_of(given.convolution) * axes.taps()),
          pairs_(static_cast<std::size_t>(given.convolution.groups * rows_ * depth_)) {
        const Convolution& convolution = given.convolution;
        const std::int64_t with_both = convolution.channels / 2 * axes.taps();
        parallel_for(
            convolution.groups * convolution.output_channels, depth_, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t filter = first; filter < last; ++filter) {
                    Pair* const to = &pairs_[static_cast<std::size_t>(
                        (filter / convolution.output_channels * rows_ + filter % convolution.output_channels) *
                        depth_)];
                    const std::int64_t from = filter * convolution.channels * axes.taps();
                    const int zero_point = given.filter_zero_points[static_cast<std::size_t>(filter)];
                    given.filters.load_pairs({from, 1, with_both}, depth_, zero_point, to);
                    given.filters.load_pairs({from + with_both, 1, depth_ - with_both}, 0, zero_point, to + with_both);
                }
            });
    }

    [[nodiscard]] std::int64_t depth() const { return depth_; }
    [[nodiscard]] const Pair* at(std::int64_t group, std::int64_t row, std::int64_t k) const {
        return &pairs_[static_cast<std::size_t>((group * rows_ + row) * depth_ + k)];
    }

private:
    std::int64_t rows_;
    std::int64_t depth_;
    std::vector<Pair> pairs_;
};

/// One thread, which computes one block of a group's sums after another.
class PairWorker {
public:
    PairWorker(const Convolution& convolution, const PairFilters& filters, const PairImage& image,
               const std::function<void(const Sums&)>& take)
        : convolution_(convolution),
          shape_(convolution.shape()),
          filters_(filters),
          image_(image),
          take_(take),
          tile_(integer_tiles().back()),
          right_(pairs_in_a_block * integer_tile_columns + PairImage::columns_behind_a_tile) {}

    void compute(std::int64_t group, std::int64_t first_row, std::int64_t first_column) {
        rows_ = std::min(rows_in_a_block, shape_.rows - first_row);
        columns_ = std::min(columns_in_a_block, convolution_.batches * shape_.columns - first_column);
        sums_.assign(static_cast<std::size_t>(parts(rows_, integer_tile_rows) * integer_tile_rows * columns_in_a_block),
                     0);
        totals_.clear();
        for (std::int64_t k = 0; k < filters_.depth(); k += most_pairs_in_a_sum) {
            if (k > 0) {
                empty_sums();
            }
            sum(group, first_row, first_column, k, std::min(filters_.depth(), k + most_pairs_in_a_sum));
        }
        hand_out(group, first_row, first_column);
    }

private:
    /// Adds the products of `count` pairs. The sums must be able to hold them.
    void sum(std::int64_t group, std::int64_t first_row, std::int64_t first_column, std::int64_t first_pair,
             std::int64_t last_pair) {
        for (std::int64_t column = 0; column < columns_; column += integer_tile_columns) {
            const auto segments =
                image_.segments(group, first_column + column, std::min(integer_tile_columns, columns_ - column));
            for (std::int64_t k = first_pair; k < last_pair; k += pairs_in_a_block) {
                const std::int64_t depth = std::min(pairs_in_a_block, last_pair - k);
                image_.load(segments, k, depth, right_.data());
                for (std::int64_t row = 0; row < rows_; row += integer_tile_rows) {
                    tile_(filters_.at(group, first_row + row, k), filters_.depth(), right_.data(), depth,
                          &sums_[static_cast<std::size_t>(row * columns_in_a_block + column)], columns_in_a_block);
                }
            }
        }
    }

    /// Moves the 32-bit sums to the totals before they overflow.
    void empty_sums() {
        totals_.resize(sums_.size());
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            totals_[i] += sums_[i];
            sums_[i] = 0;
        }
    }

    /// The sums of a row as doubles.
    void load_numbers(std::size_t first, std::span<double> to) const {
        std::copy_n(&sums_[first], to.size(), to.begin());
        if (!totals_.empty()) {
            std::transform(to.begin(), to.end(), &totals_[first], to.begin(), std::plus());
        }
    }

    /// Passes on the columns of each batch separately.
    void hand_out(std::int64_t group, std::int64_t first_row, std::int64_t first_column) {
        for (std::int64_t done = 0; done < columns_;) {
            const std::int64_t column = (first_column + done) % shape_.columns;
            const std::int64_t batch = (first_column + done) / shape_.columns * convolution_.groups + group;
            const std::int64_t count = std::min(columns_ - done, shape_.columns - column);
            for (std::int64_t row = 0; row < rows_; ++row) {
                load_numbers(static_cast<std::size_t>(row * columns_in_a_block + done),
                             std::span(numbers_).first(static_cast<std::size_t>(count)));
                take_({batch, first_row + row, column, count, numbers_.data(), nullptr});
            }
            done += count;
        }
    }

    const Convolution& convolution_;
    Shape shape_;
    const PairFilters& filters_;
    const PairImage& image_;
    const std::function<void(const Sums&)>& take_;
    IntegerTile tile_;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
    std::vector<Pair> right_;
    std::vector<std::int32_t> sums_;
    /// Totals of 32-bit sums that were moved out before overflowing.
    std::vector<double> totals_;
    std::array<double, columns_in_a_block> numbers_{};
};

}  // namespace

void multiply_in_blocks(const IntegerConvolution& given, const UnfoldedAxes& axes,
                        const std::function<void(const Sums&)>& take) {
    const Convolution& convolution = given.convolution;
    const PairFilters filters(given, axes);
    const PairImage image(given, axes);
    const std::int64_t rows = parts(convolution.output_channels, rows_in_a_block);
    const std::int64_t columns = parts(convolution.batches * axes.positions(), columns_in_a_block);
    const std::int64_t cost = std::min(convolution.output_channels, rows_in_a_block) * columns_in_a_block *
                              std::min<std::int64_t>(filters.depth(), 1'000'000) / 32;
    parallel_for(convolution.groups * rows * columns, cost, [&](std::int64_t first, std::int64_t last) {
        PairWorker worker(convolution, filters, image, take);
        for (std::int64_t block = first; block < last; ++block) {
            worker.compute(block / columns / rows, block / columns % rows * rows_in_a_block,
                           block % columns * columns_in_a_block);
        }
    });
}

}  // namespace dmlconform::cpu::product
