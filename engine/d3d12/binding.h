// What binds an operator to its shaders. One file per operator in bindings/ defines it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/d3d12/dispatch_plan.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

struct Binding {
    /// Of a valid descriptor. A pure function: the same descriptor gives the same plan.
    DispatchPlan (*plan)(const operators::Descriptor& descriptor);
    /// Every variant that a plan may name, so that all can be compiled without descriptors.
    std::vector<ShaderVariant> (*variants)();
    /// Of a valid descriptor: why the shaders cannot do it. Null when they can do all.
    std::optional<std::string> (*unsupported)(const operators::Descriptor& descriptor);
};

/// Short operator name and binding, one entry for each file in bindings/. Written by the build.
extern const std::span<const std::pair<std::string_view, const Binding*>> binding_registry;

/// Null when the operator has no shader yet.
[[nodiscard]] const Binding* find_binding(std::string_view short_name);

}  // namespace dmlconform::d3d12
