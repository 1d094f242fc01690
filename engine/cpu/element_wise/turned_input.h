// Inputs that are transposed relative to the iteration order: neighbours along a run are far apart in memory, and
// neighbours across runs are adjacent. Each cache line contains elements of many runs and would be evicted before the
// next run needs it. So the elements of all these runs are gathered at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/element_wise/layout.h"
#include "engine/cpu/element_wise/load_store.h"

namespace dmlconform::cpu::element_wise {

/// A transposed input. For one thread.
class TurnedInput {
public:
    /// `input` is array `t` of the runs, which are processed in pieces of `length` elements. The input must not change
    /// during the iteration.
    TurnedInput(const core::Tensor& input, const Runs& runs, std::size_t t, std::size_t longest_piece);

    [[nodiscard]] bool is_turned() const { return width_ > 1; }

    /// Elements, and the memory that holds them.
    struct Source {
        std::span<const std::byte> memory;
        Segment segment;
    };
    /// Where the elements of a piece, which starts `i` elements into its run, have been gathered. Valid until the next
    /// call.
    [[nodiscard]] Source source_of(const Segment& from, std::int64_t i, std::size_t count);

private:
    /// The same piece of adjacent runs, stored one after the other. In the first run it starts at element `first`.
    struct Piece {
        std::int64_t first = 0;
        std::int64_t runs = 0;
        std::vector<std::byte> memory;
    };

    void gather(const Segment& from, std::size_t count, Piece& piece) const;

    const core::Tensor& input_;
    std::int64_t longest_piece_;
    /// The number of runs whose elements are adjacent, at most a cache line of them.
    std::int64_t width_ = 1;
    std::vector<Piece> pieces_;
};

}  // namespace dmlconform::cpu::element_wise
