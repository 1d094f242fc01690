// Computes differences of sums in blocks that stay in the caches.
#include "engine/cpu/product/run_sums.h"

#include <algorithm>
#include <atomic>

#include "engine/core/hardware_threads.h"
#include "engine/cpu/aligned_numbers.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/prefetch.h"
#include "engine/cpu/product/finish.h"
#include "engine/cpu/tensor_numbers.h"

namespace dmlconform::cpu::product {
namespace {

// A block of the right factors has at most 384 KiB, one of the sums 1.5 MiB, so that both stay in a cache of 2 MiB.
// What follows a product takes long at the beginnings of rows, so they are long.
constexpr std::int64_t run_block_depth = 64;
constexpr std::int64_t most_block_columns = 96;
constexpr std::int64_t run_block_rows = 256;
static_assert(most_block_columns <= most_part_elements);

std::int64_t whole_multiple(std::int64_t size, std::int64_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

/// Blocks of equal size, which are at most as large as the largest one.
struct ColumnBlocks {
    explicit ColumnBlocks(std::int64_t columns)
        : count((columns + most_block_columns - 1) / most_block_columns),
          size(whole_multiple((columns + count - 1) / count, run_tile_columns)) {}

    std::int64_t count;
    std::int64_t size;
};

/// The left factor as tiles: [batch][tile][k][row]. Rows beyond the last one are 0.
class LeftTiles {
public:
    explicit LeftTiles(const Factors& factors)
        : shape_(factors.shape()),
          tiles_(whole_multiple(shape_.rows, run_tile_rows) / run_tile_rows),
          batches_(static_cast<std::int64_t>(factors.left().count()) / (shape_.rows * shape_.depth)) {
        numbers_.resize(static_cast<std::size_t>(batches_ * tiles_ * run_tile_rows * shape_.depth));
        factors.left().elements().visit([&](const auto* elements) {
            for (std::int64_t batch = 0; batch < batches_; ++batch) {
                for (std::int64_t tile = 0; tile < tiles_; ++tile) {
                    const std::size_t from = factors.left_index(batch, tile * run_tile_rows, 0);
                    const std::int64_t rows = std::min(run_tile_rows, shape_.rows - tile * run_tile_rows);
                    fill(elements + from, rows, numbers_.data() + offset_of(batch, tile, 0));
                }
            }
        });
    }

    [[nodiscard]] const float* at(std::int64_t batch, std::int64_t tile, std::int64_t k) const {
        return numbers_.data() + offset_of(batch % batches_, tile, k);
    }

private:
    /// Reads all rows of a tile side by side, and writes without gaps.
    template <class T>
    void fill(const T* from, std::int64_t rows, float* to) const {
        for (std::int64_t k = 0; k < shape_.depth; ++k) {
            for (std::int64_t row = 0; row < rows; ++row) {
                to[k * run_tile_rows + row] = static_cast<float>(from[row * shape_.depth + k]);
            }
        }
    }

    [[nodiscard]] std::size_t offset_of(std::int64_t batch, std::int64_t tile, std::int64_t k) const {
        return static_cast<std::size_t>(((batch * tiles_ + tile) * shape_.depth + k) * run_tile_rows);
    }

    Shape shape_;
    std::int64_t tiles_;
    std::int64_t batches_;
    std::vector<float> numbers_;
};

/// One thread, which computes one block after another.
class RunWorker {
public:
    RunWorker(const Factors& factors, const LeftTiles& left, const RunNumbers& reference,
              std::span<const RunNumbers> runs, const std::function<void(const RunSums&)>& take)
        : factors_(factors), left_(left), reference_(reference), runs_(runs), take_(take), tile_(fastest_run_tile()) {}

    /// Returns whether all differences are finite.
    [[nodiscard]] bool compute(std::int64_t batch, std::int64_t first_row, std::int64_t first_column,
                               std::int64_t columns) {
        const Shape& shape = factors_.shape();
        batch_ = batch;
        first_column_ = first_column;
        columns_ = columns;
        column_tiles_ = whole_multiple(columns, run_tile_columns) / run_tile_columns;
        const std::int64_t rows = std::min(run_block_rows, shape.rows - first_row);
        const std::int64_t row_tiles = whole_multiple(rows, run_tile_rows) / run_tile_rows;
        sums_.resize(static_cast<std::size_t>(row_tiles * column_tiles_ * run_tile_sums));
        for (std::int64_t k = 0; k < shape.depth; k += run_block_depth) {
            const std::int64_t count = std::min(run_block_depth, shape.depth - k);
            load_right(k, count);
            for (std::int64_t column = 0; column < column_tiles_; ++column) {
                const float* const right = &right_[static_cast<std::size_t>(column * count * tile_step)];
                for (std::int64_t row = 0; row < row_tiles; ++row) {
                    if (row + 1 < row_tiles) {
                        prefetch_sums(row + 1, column);
                    }
                    tile_(left_.at(batch, first_row / run_tile_rows + row, k), right, count, sums_of(row, column),
                          k == 0);
                }
            }
        }
        bool are_finite = true;
        for (std::int64_t row = 0; row < rows; ++row) {
            are_finite = take_row(first_row + row, row) && are_finite;
        }
        return are_finite;
    }

private:
    /// Numbers of the right factors of a tile for each k.
    static constexpr std::int64_t tile_step = run_tile_columns * run_lanes;

    [[nodiscard]] float* sums_of(std::int64_t row_tile, std::int64_t column_tile) {
        return &sums_[static_cast<std::size_t>((row_tile * column_tiles_ + column_tile) * run_tile_sums)];
    }

    void prefetch_sums(std::int64_t row_tile, std::int64_t column_tile) {
        const float* const sums = sums_of(row_tile, column_tile);
        for (std::int64_t i = 0; i < run_tile_sums; i += run_lanes) {
            prefetch(sums + i);
        }
    }

    /// Loads differences of the right factors as tiles: [tile][k][column][run].
    void load_right(std::int64_t k, std::int64_t count) {
        right_.resize(static_cast<std::size_t>(column_tiles_ * count * tile_step));
        for (std::int64_t i = 0; i < count; ++i) {
            segments_.clear();
            factors_.find_right(batch_, k + i, first_column_, columns_, segments_);
            load_columns({.first = &right_[static_cast<std::size_t>(i * tile_step)], .tile_stride = count * tile_step});
        }
    }

    void load_columns(const RunColumns& to) {
        std::int64_t present = 0;
        for (const RightSegment& segment : segments_) {
            present += segment.count;
        }
        for (std::int64_t tile = 0; present != column_tiles_ * run_tile_columns && tile < column_tiles_; ++tile) {
            std::fill_n(to.at(tile * run_tile_columns), tile_step, 0.0F);
        }
        std::array<const float*, run_lanes> runs{};
        for (const RightSegment& segment : segments_) {
            // Positions that are not adjacent are loaded one by one.
            const bool is_adjacent = segment.position_step == 1;
            const std::int64_t length = is_adjacent ? segment.count : 1;
            for (std::int64_t done = 0; done < segment.count; done += length) {
                const std::int64_t element = segment.element + done * segment.element_step;
                const float* const reference = reference_.floats.data() + element;
                for (std::size_t run = 0; run < runs.size(); ++run) {
                    // Lanes without a run have differences of 0.
                    runs[run] = run < runs_.size() ? runs_[run].floats.data() + element : reference;
                }
                interleave_deviations(runs, reference, segment.element_step, length, to,
                                      segment.position + done * segment.position_step);
            }
        }
    }

    [[nodiscard]] bool take_row(std::int64_t row, std::int64_t row_of_block) {
        row_.resize(static_cast<std::size_t>(columns_ * run_lanes));
        const RunColumns columns{
            .first = sums_of(row_of_block / run_tile_rows, 0) + row_of_block % run_tile_rows * tile_step,
            .tile_stride = run_tile_sums};
        const bool are_finite = separate_runs(columns, columns_, row_.data(), columns_);
        take_({batch_, row, first_column_, columns_, row_.data()});
        return are_finite;
    }

    const Factors& factors_;
    const LeftTiles& left_;
    const RunNumbers& reference_;
    std::span<const RunNumbers> runs_;
    const std::function<void(const RunSums&)>& take_;
    RunTile tile_;
    std::int64_t batch_ = 0;
    std::int64_t first_column_ = 0;
    std::int64_t columns_ = 0;
    std::int64_t column_tiles_ = 0;
    AlignedFloats sums_;
    AlignedFloats right_;
    AlignedFloats row_;
    std::vector<RightSegment> segments_;
};

}  // namespace

RunNumbers::RunNumbers(const core::Tensor& tensor) {
    if (is_readable(tensor)) {
        floats = tensor.as<float>().first(*core::element_count(tensor.desc.sizes));
        return;
    }
    for (const double number : numbers_of(tensor)) {
        converted.push_back(static_cast<float>(number));
    }
    floats = converted;
}

bool multiply_deviations(const Factors& factors, const RunNumbers& reference, std::span<const RunNumbers> runs,
                         const std::function<void()>& pause, const std::function<void(const RunSums&)>& take) {
    const Shape& shape = factors.shape();
    const LeftTiles left(factors);
    const ColumnBlocks columns(shape.columns);
    const std::int64_t row_blocks = (shape.rows + run_block_rows - 1) / run_block_rows;
    const std::int64_t all = shape.batches * row_blocks * columns.count;
    const std::int64_t cost =
        std::min(shape.rows, run_block_rows) * columns.size * std::min<std::int64_t>(shape.depth, 1'000'000);
    // A block of the largest products takes a tenth of a second.
    const std::int64_t at_once = 8 * std::max<std::int64_t>(1, core::hardware_threads());
    std::atomic<bool> are_finite = true;
    for (std::int64_t from = 0; from < all && are_finite; from += at_once) {
        pause();
        parallel_for(std::min(at_once, all - from), cost, [&](std::int64_t first, std::int64_t last) {
            RunWorker worker(factors, left, reference, runs, take);
            for (std::int64_t block = from + first; block < from + last; ++block) {
                const std::int64_t column = block % columns.count * columns.size;
                if (!worker.compute(block / columns.count / row_blocks,
                                    block / columns.count % row_blocks * run_block_rows, column,
                                    std::min(columns.size, shape.columns - column))) {
                    are_finite = false;
                }
            }
        });
    }
    return are_finite;
}

}  // namespace dmlconform::cpu::product
