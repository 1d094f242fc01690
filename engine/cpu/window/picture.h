// A tensor's elements as doubles, packed, for operators that read them again and again.
#pragma once

#include <vector>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::window {

/// In row-major order.
[[nodiscard]] inline std::vector<double> numbers_of(const core::Tensor& tensor) {
    const movement::Rows rows(tensor.desc);
    std::vector<double> numbers(static_cast<std::size_t>(rows.count() * rows.length()));
    const std::int64_t step = core::signed_strides(tensor.desc).back();
    rows.for_each_row(0, rows.count(), [&](movement::Coordinates, std::int64_t address, std::int64_t number) {
        element_wise::load(tensor.buffer.bytes(), {tensor.desc.data_type, address, step},
                           static_cast<std::size_t>(rows.length()), numbers.data() + number);
    });
    return numbers;
}

/// The planes of a tensor of batches, channels, rows and columns.
class Picture {
public:
    explicit Picture(const core::Tensor& tensor)
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
