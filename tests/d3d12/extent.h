// One spatial dimension of a convolution.
#pragma once

#include <cstdint>

#include "tests/d3d12/random_tensors.h"

namespace dmlconform::tests {

struct Extent {
    std::uint32_t input = 1;
    std::uint32_t filter = 1;
    std::uint32_t stride = 1;
    std::uint32_t dilation = 1;
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    /// Output positions beyond the last window.
    std::uint32_t more = 0;

    [[nodiscard]] std::uint32_t reach() const { return (filter - 1) * dilation + 1; }
    [[nodiscard]] std::uint32_t output(bool is_backward = false) const {
        return more + (is_backward ? (input - 1) * stride + reach() - start - end
                                   : (input + start + end - reach()) / stride + 1);
    }
};

/// Random small windows. The caller chooses the input's size.
inline Extent random_windows(Random& random) {
    Extent extent;
    extent.filter = random.between(1, 3);
    extent.stride = random.between(1, 3);
    extent.dilation = random.between(1, 2);
    extent.start = random.between(0, 2);
    extent.end = random.between(0, 2);
    return extent;
}

}  // namespace dmlconform::tests
