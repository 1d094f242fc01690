// Whether the device's own conversions between FLOAT16 and FP32 can be trusted: shaders/half_conversions.hlsl.
#pragma once

#include <memory>

#include "engine/core/error.h"
#include "engine/d3d12/device.h"

namespace dmlconform::d3d12 {

/// True when they keep subnormals and round to nearest, ties to even: every number of 16 bits is tried, and so are the
/// places between each two where rounding changes.
[[nodiscard]] core::Result<bool> has_exact_half_conversions(const std::shared_ptr<Device>& device);

}  // namespace dmlconform::d3d12
