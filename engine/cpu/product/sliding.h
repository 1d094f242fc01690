// Slides a filter over rows of the input. The sums of an output position stay in registers until all terms are added.
#pragma once

#include <cstdint>
#include <span>

namespace dmlconform::cpu::product {

/// A row of a filter, and the row of the input that it slides over.
template <class T>
struct SlidingRow {
    const T* elements = nullptr;
    const double* factors = nullptr;
};

/// What all rows have in common. Output position p sees element p + tap * dilation - padding with each filter element;
/// padding may be negative.
struct Sliding {
    /// Number of elements in a row of the input, and of factors in a row of a filter.
    std::int64_t elements = 1;
    std::int64_t taps = 1;
    std::int64_t dilation = 1;
    std::int64_t padding = 0;
};

/// Sets sums[x - first] for output positions x from `first` to `last` - 1. Terms are added in the order of rows and
/// filter elements, starting from 0. There is no term for padding. For double and float.
template <class T>
void slide(const Sliding& sliding, std::span<const SlidingRow<T>> rows, std::int64_t first, std::int64_t last,
           double* sums);

}  // namespace dmlconform::cpu::product
