// One spatial dimension of a convolution.
#pragma once

#include <cstdint>

namespace dmlconform::tests {

struct Extent {
    std::uint32_t input = 1;
    std::uint32_t filter = 1;
    std::uint32_t stride = 1;
    std::uint32_t dilation = 1;
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    /// Places of the output beyond those that windows stop at.
    std::uint32_t more = 0;

    [[nodiscard]] std::uint32_t reach() const { return (filter - 1) * dilation + 1; }
    [[nodiscard]] std::uint32_t output(bool is_backward = false) const {
        return more + (is_backward ? (input - 1) * stride + reach() - start - end
                                   : (input + start + end - reach()) / stride + 1);
    }
};

}  // namespace dmlconform::tests
