// What implementations may keep the sums of a product of FLOAT16 tensors in while they grow.
#pragma once

#include <cstdint>

namespace dmlconform::cpu {

enum class Accumulation : std::uint8_t {
    /// FP32 or better: what operators' own tolerances assume.
    fp32,
    /// FLOAT16 or better: what DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION allows.
    float16,
};

}  // namespace dmlconform::cpu
