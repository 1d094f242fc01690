// Shapes of matrices for tests of matrix products.
#pragma once

#include <cstdint>

#include "engine/core/tensor_desc.h"

namespace dmlconform::tests {

/// The shapes of two matrices and of their product.
struct MatrixShape {
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    std::uint32_t depth = 1;
    /// The sizes before the last two.
    core::Dimensions batches;
};

inline core::Dimensions sizes_of(const MatrixShape& shape, std::uint32_t rows, std::uint32_t columns) {
    core::Dimensions sizes = shape.batches;
    sizes.insert(sizes.end(), {rows, columns});
    return sizes;
}

}  // namespace dmlconform::tests
