// 8-bit elements, signed or unsigned, minus a zero point.
#pragma once

#include <cstdint>

#include "engine/core/tensor.h"
#include "engine/cpu/product/integer_tile.h"

namespace dmlconform::cpu::product {

/// Elements that are `step` apart, starting at this row-major index.
struct ByteSegment {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
};

/// An INT8 or UINT8 tensor's elements in row-major order.
class Bytes {
public:
    explicit Bytes(const core::Tensor& tensor);

    /// Loads elements minus the zero point.
    void load(const ByteSegment& from, int zero_point, std::int32_t* to) const;
    /// Loads elements as the low halves of pairs. The high halves are the elements `to_high` further on, or 0 if that
    /// is 0.
    void load_pairs(const ByteSegment& from, std::int64_t to_high, int zero_point, Pair* to) const;

private:
    core::Tensor packed_;
    const std::uint8_t* elements_;
    /// XORed to each byte: inverting the highest bit of a signed byte gives an unsigned byte that is larger by 128.
    std::uint8_t turned_;
    int offset_;
};

}  // namespace dmlconform::cpu::product
