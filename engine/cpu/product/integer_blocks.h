// A convolution of bytes as a product of matrices of pairs of numbers. Filters are on the left; on the right, each
// column has the elements that a filter sees at one output position of one batch.
#pragma once

#include <functional>

#include "engine/cpu/product/integer_convolution.h"
#include "engine/cpu/product/unfolded.h"

namespace dmlconform::cpu::product {

/// Computes the same as `convolve`.
void multiply_in_blocks(const IntegerConvolution& given, const UnfoldedAxes& axes,
                        const std::function<void(const Sums&)>& take);

}  // namespace dmlconform::cpu::product
