// What the device moves and computes at most.
#pragma once

#include <memory>
#include <vector>

#include "engine/d3d12/dispatch_plan.h"
#include "engine/engine.h"

namespace dmlconform::d3d12 {

struct Device;

/// Measures with the device's own clock.
[[nodiscard]] core::Result<Roofline> measure_roofline(const std::shared_ptr<Device>& device);

/// Every shader variant that measuring dispatches.
[[nodiscard]] std::vector<ShaderVariant> roofline_variants();

}  // namespace dmlconform::d3d12
