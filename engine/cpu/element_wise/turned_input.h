// Inputs whose elements lie far apart along the runs that are walked, and side by side across them: transpositions.
// Each line of the cache has elements of many runs, and would be gone when the next run needs it. So all of the line's
// elements are taken at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/cpu/element_wise/layout.h"
#include "engine/cpu/element_wise/load_store.h"

namespace dmlconform::cpu::element_wise {

/// One thread's.
class TurnedInput {
public:
    /// `input` is array `t` of the runs, which are taken in pieces of so many elements. It must not change meanwhile.
    TurnedInput(const core::Tensor& input, const Runs& runs, std::size_t t, std::size_t longest_piece);

    [[nodiscard]] bool is_turned() const { return width_ > 1; }

    /// Elements, and the memory that has them.
    struct Place {
        std::span<const std::byte> memory;
        Stretch stretch;
    };
    /// Another place of the elements of a piece, which starts `i` elements into its run. Good until the next call.
    [[nodiscard]] Place place_of(const Stretch& from, std::int64_t i, std::size_t count);

private:
    /// The same piece of neighbouring runs, one after the other. The first run's starts at element `first`.
    struct Piece {
        std::int64_t first = 0;
        std::int64_t runs = 0;
        std::vector<std::byte> memory;
    };

    void gather(const Stretch& from, std::size_t count, Piece& piece) const;

    const core::Tensor& input_;
    std::int64_t longest_piece_;
    /// How many runs start side by side, at most those of a line of the cache.
    std::int64_t width_ = 1;
    std::vector<Piece> pieces_;
};

}  // namespace dmlconform::cpu::element_wise
