// The peak memory bandwidth and arithmetic throughput of the device.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace dmlconform::d3d12 {

struct Device;

/// Measures with the device's own clock.
[[nodiscard]] core::Result<Roofline> measure_roofline(const std::shared_ptr<Device>& device);

}  // namespace dmlconform::d3d12
