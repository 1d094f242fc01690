// A filter that slides over rows of a picture, one place at a time: sums stay in registers until all of their terms are
// added.
#pragma once

#include <cstdint>
#include <span>

namespace dmlconform::cpu::product {

/// A row of a filter, and the row of the picture that it slides over.
struct SlidingRow {
    const double* elements = nullptr;
    const double* factors = nullptr;
};

/// What all rows have in common. Place p of the output meets element p + tap * dilation - padding with each tap, where
/// padding may be negative.
struct Sliding {
    /// Elements of a row of the picture, and factors of a row of a filter.
    std::int64_t elements = 1;
    std::int64_t taps = 1;
    std::int64_t dilation = 1;
    std::int64_t padding = 0;
};

/// sums[x - first] for places x from `first` to `last` - 1: the sum of terms in the order of rows and of taps, from 0
/// on. There is no term where a tap meets no element.
void slide(const Sliding& sliding, std::span<const SlidingRow> rows, std::int64_t first, std::int64_t last,
           double* sums);

}  // namespace dmlconform::cpu::product
