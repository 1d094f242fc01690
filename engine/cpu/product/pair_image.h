// An input of bytes as pairs of channels: each pair has a channel of the first half and one of the second half.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/product/integer_convolution.h"
#include "engine/cpu/product/unfolded.h"

namespace dmlconform::cpu::product {

/// The number of channel pairs in a group.
[[nodiscard]] inline std::int64_t pairs_of(const Convolution& convolution) {
    return (convolution.channels + 1) / 2;
}

/// The right matrix of a group: one row for each channel pair and filter element, one column for each output position
/// of all batches.
class PairImage {
public:
    PairImage(const IntegerConvolution& given, const UnfoldedAxes& axes);

    /// Consecutive columns whose elements are contiguous in every row.
    struct Segment {
        std::int64_t from = 0;
        std::int64_t to = 0;
        std::int64_t count = 0;
    };
    /// The segments of `count` columns of a group.
    [[nodiscard]] std::vector<Segment> segments(std::int64_t group, std::int64_t column, std::int64_t count) const;

    /// Loads the rows k … k + count - 1 of these columns, integer_tile_columns apart. `to` must have room for
    /// columns_behind_a_tile more.
    void load(const std::vector<Segment>& segments, std::int64_t k, std::int64_t count, Pair* to) const;
    static constexpr std::int64_t columns_behind_a_tile = 16;

private:
    const UnfoldedAxes& axes_;
    std::int64_t groups_;
    /// The number of pairs in a group.
    std::int64_t size_;
    /// For each row of the matrix, the offset of the element that the first output position sees.
    std::vector<std::int64_t> offsets_;
    std::unique_ptr<Pair[]> pairs_;
};

}  // namespace dmlconform::cpu::product
