// A convolution of bytes as a product of matrices of pairs of numbers: filters on the left, and on the right for each
// place of all batches the elements that a filter meets there.
#pragma once

#include <functional>

#include "engine/cpu/product/integer_convolution.h"
#include "engine/cpu/product/unfolded.h"

namespace dmlconform::cpu::product {

/// As `convolve`.
void multiply_in_blocks(const IntegerConvolution& given, const UnfoldedAxes& axes,
                        const std::function<void(const Sums&)>& take);

}  // namespace dmlconform::cpu::product
