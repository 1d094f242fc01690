// TOP_K1 and TOP_K of a sequence that is larger than shaders can address.
#pragma once

#include <optional>

#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// Plans a single sequence. Empty if K is so large that the candidates exceed the limit as well.
[[nodiscard]] std::optional<DispatchPlan> plan_long_sequence(const Addressable& most,
                                                             const operators::Descriptor& descriptor);

}  // namespace dmlconform::d3d12
