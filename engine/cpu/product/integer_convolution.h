// Convolutions of bytes: exact sums of products of differences from zero points.
#pragma once

#include <functional>
#include <vector>

#include "engine/cpu/product/bytes.h"
#include "engine/cpu/product/places.h"

namespace dmlconform::cpu::product {

/// A forward convolution of one or two spatial dimensions. Padding stands for the picture's zero point.
struct IntegerConvolution {
    Convolution convolution;
    Bytes picture;
    int picture_zero_point = 0;
    /// {groups, output channels, channels, taps}.
    Bytes filters;
    /// One for each output channel of all groups.
    std::vector<int> filter_zero_points;
};

/// Computes all sums, on several threads, and hands each to `take` once, as `multiply` does. Their batches are the
/// groups of all batches. The sums of fewer than 2^37 products are exact.
void convolve(const IntegerConvolution& convolution, const std::function<void(const Sums&)>& take);

}  // namespace dmlconform::cpu::product
