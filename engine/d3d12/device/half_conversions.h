// Tests whether the device's own conversions between FLOAT16 and FP32 are exact, by
// shaders/device/half_conversions.hlsl.
#pragma once

#include <memory>

#include "engine/core/error.h"
#include "engine/d3d12/device/device.h"

namespace dmlconform::d3d12 {

/// True if conversions keep subnormals and round to nearest, ties to even. Tests every 16-bit number, and the points
/// between neighbours where rounding changes.
[[nodiscard]] core::Result<bool> has_exact_half_conversions(const std::shared_ptr<Device>& device);

}  // namespace dmlconform::d3d12
