// Convolutions of bytes: exact sums of products of differences from zero points.
#pragma once

#include <functional>
#include <vector>

#include "engine/cpu/product/bytes.h"
#include "engine/cpu/product/filter_positions.h"

namespace dmlconform::cpu::product {

/// A forward convolution with one or two spatial dimensions. Padding has the value of the input's zero point.
struct IntegerConvolution {
    Convolution convolution;
    Bytes image;
    int image_zero_point = 0;
    /// The filters as {groups, output channels, channels, taps}.
    Bytes filters;
    /// One for each output channel of all groups.
    std::vector<int> filter_zero_points;
};

/// Computes all sums in several threads and passes each to `take` once, like `multiply`. Batches of the sums are the
/// groups of all batches. Sums of fewer than 2^37 products are exact.
void convolve(const IntegerConvolution& convolution, const std::function<void(const Sums&)>& take);

}  // namespace dmlconform::cpu::product
