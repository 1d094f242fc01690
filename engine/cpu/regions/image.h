// Tensors whose elements operators read repeatedly, as planes.
#pragma once

#include <vector>

#include "engine/cpu/tensor_numbers.h"

namespace dmlconform::cpu::window {

/// The planes of a tensor with batches, channels, rows and columns.
class Image {
public:
    explicit Image(const core::Tensor& tensor)
        : numbers_(numbers_of(tensor)), sizes_(tensor.desc.sizes), batches_(std::int64_t{sizes_[0]}) {}

    [[nodiscard]] std::int64_t batches() const { return batches_; }
    [[nodiscard]] std::int64_t rows() const { return std::int64_t{sizes_[2]}; }
    [[nodiscard]] std::int64_t columns() const { return std::int64_t{sizes_[3]}; }
    [[nodiscard]] const double* plane(std::int64_t batch, std::int64_t channel) const {
        return numbers_.data() + (batch * std::int64_t{sizes_[1]} + channel) * rows() * columns();
    }

private:
    std::vector<double> numbers_;
    core::Dimensions sizes_;
    std::int64_t batches_;
};

}  // namespace dmlconform::cpu::window
