// Elements of 8 bits, signed or not, minus a zero point.
#pragma once

#include <cstdint>

#include "engine/core/tensor.h"
#include "engine/cpu/product/integer_tile.h"

namespace dmlconform::cpu::product {

/// Elements that are `step` apart, from the one with this number in row-major order on.
struct ByteStretch {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
};

/// An INT8 or UINT8 tensor's elements in row-major order.
class Bytes {
public:
    explicit Bytes(const core::Tensor& tensor);

    /// Elements minus the zero point.
    void load(const ByteStretch& from, int zero_point, std::int32_t* to) const;
    /// The same as low halves of pairs. High halves are the elements `to_high` behind them, or 0 if that is 0.
    void load_pairs(const ByteStretch& from, std::int64_t to_high, int zero_point, Pair* to) const;

private:
    core::Tensor packed_;
    const std::uint8_t* elements_;
    /// With its highest bit turned over, a signed byte is an unsigned one that is 128 more.
    std::uint8_t turned_;
    int offset_;
};

}  // namespace dmlconform::cpu::product
