// QUANTIZED_LINEAR_CONVOLUTION with one input channel per group. It has its own shaders, because the sums are too short
// for matrix products.
#pragma once

#include <vector>

#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// True if the shaders support it. Windows may be too large.
[[nodiscard]] bool is_depthwise(const operators::Descriptor& descriptor);

[[nodiscard]] Dispatch depthwise_dispatch(const operators::Descriptor& descriptor);

[[nodiscard]] std::vector<ShaderVariant> depthwise_variants();

}  // namespace dmlconform::d3d12
