// A picture of bytes as pairs of channels: one of the first half, and one of the second half.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/product/integer_convolution.h"
#include "engine/cpu/product/unfolded.h"

namespace dmlconform::cpu::product {

/// Pairs of channels of a group.
[[nodiscard]] inline std::int64_t pairs_of(const Convolution& convolution) {
    return (convolution.channels + 1) / 2;
}

/// What is on the right of the product of a group: a row for each pair of channels and tap, and a column for each place
/// of all batches.
class PairPicture {
public:
    PairPicture(const IntegerConvolution& given, const UnfoldedAxes& axes);

    /// Columns whose elements lie side by side, whichever row it is.
    struct Stretch {
        std::int64_t from = 0;
        std::int64_t to = 0;
        std::int64_t count = 0;
    };
    /// Those of so many columns of a group.
    [[nodiscard]] std::vector<Stretch> stretches(std::int64_t group, std::int64_t column, std::int64_t count) const;

    /// Loads rows k … k + count - 1 of those columns, integer_tile_columns apart. `to` has room for
    /// columns_behind_a_tile more.
    void load(const std::vector<Stretch>& stretches, std::int64_t k, std::int64_t count, Pair* to) const;
    static constexpr std::int64_t columns_behind_a_tile = 16;

private:
    const UnfoldedAxes& axes_;
    std::int64_t groups_;
    /// Of a group.
    std::int64_t size_;
    /// For each row of the matrix: where the first place of a picture meets it.
    std::vector<std::int64_t> offsets_;
    std::unique_ptr<Pair[]> pairs_;
};

}  // namespace dmlconform::cpu::product
