// The precision in which implementations may keep partial sums of FLOAT16 products.
#pragma once

#include <cstdint>

namespace dmlconform::cpu {

enum class Accumulation : std::uint8_t {
    /// FP32 or better, which the operators' default tolerances assume.
    fp32,
    /// FLOAT16 or better, which DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION allows.
    float16,
};

}  // namespace dmlconform::cpu
