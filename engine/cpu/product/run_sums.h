// What the sums of a product differ by in several runs of a graph whose right factors differ a little: the left factor
// times the differences of the right ones.
//
// FP32 is enough for that. A sum of n terms is off by at most (n + 1) 2^-24 times the sum of its terms' magnitudes: one
// rounding of the difference, and n of partial sums. That is relative to the difference, not to the sum: if runs differ
// by 10^-6 of the values, it is below 10^-9 of them for n = 4608.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/cpu/product/factors.h"
#include "engine/cpu/product/run_tile.h"

namespace dmlconform::cpu::product {

/// The numbers of a packed FP32 tensor, which are read in place, or those of another tensor as FP32 numbers.
struct RunNumbers {
    explicit RunNumbers(const core::Tensor& tensor);
    RunNumbers(RunNumbers&&) = default;

    std::vector<float> converted;
    std::span<const float> floats;
};

/// A part of a row of the product: for each run, what `count` sums differ by from the reference's.
struct RunSums {
    std::int64_t batch = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::int64_t count = 0;
    /// The numbers of a run are contiguous; those of the next run follow. They may be changed.
    float* values = nullptr;
};

/// Computes what all sums differ by, in several threads, and passes each to `take` once. `runs` has the right factors
/// of at most run_lanes runs, as arrays like that of `factors`, whose left factor must hold FP32 numbers. Returns false
/// if a difference is not finite; then `take` may have been called for some. `pause` is called now and then on this
/// thread, and may throw.
[[nodiscard]] bool multiply_deviations(const Factors& factors, const RunNumbers& reference,
                                       std::span<const RunNumbers> runs, const std::function<void()>& pause,
                                       const std::function<void(const RunSums&)>& take);

}  // namespace dmlconform::cpu::product
