// QUANTIZED_LINEAR_CONVOLUTION where each group has one channel of the input, as a dispatch of shaders of its own:
// there is too little to sum for products.
#pragma once

#include <vector>

#include "engine/d3d12/dispatch_plan.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// Whether the shaders take it: windows may be too large.
[[nodiscard]] bool is_depthwise(const operators::Descriptor& descriptor);

[[nodiscard]] Dispatch depthwise_dispatch(const operators::Descriptor& descriptor);

[[nodiscard]] std::vector<ShaderVariant> depthwise_variants();

}  // namespace dmlconform::d3d12
