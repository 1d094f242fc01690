// TOP_K1 and TOP_K of a sequence that is larger than what shaders address.
#pragma once

#include <optional>

#include "engine/d3d12/adapters.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// Of a single sequence. Empty if so many winners are wanted that their candidates are too large, too.
[[nodiscard]] std::optional<DispatchPlan> plan_long_sequence(const Addressable& most,
                                                             const operators::Descriptor& descriptor);

}  // namespace dmlconform::d3d12
