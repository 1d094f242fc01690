// What binds an operator to its shaders: a row. A file in bindings/ defines FILE_bindings(), which returns the row of
// one operator or those of a family.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/registry.h"
#include "engine/d3d12/adapters.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/d3d12/part.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

struct Binding {
    /// "SLICE1".
    std::string_view name;
    /// Of a valid descriptor. A pure function: the same descriptor gives the same plan.
    std::function<DispatchPlan(const operators::Descriptor& descriptor)> plan;
    /// Every variant that a plan may name, so that all can be compiled without descriptors.
    std::function<std::vector<ShaderVariant>()> variants;
    /// Of a valid descriptor: why the shaders cannot do it. Null when they can do all.
    std::function<std::optional<std::string>(const operators::Descriptor& descriptor)> unsupported = nullptr;
    /// Whether temporaries may be very much larger than all tensors.
    bool has_large_temporaries = false;
    /// Takes parts of the tensors for a part of the first output: see part.h. False if the dimension cannot be cut, as
    /// results along it are not independent. Null where that goes for all dimensions.
    bool (*cut)(Cut& cut) = nullptr;
    /// Of what cannot be cut, and is too large for `plan`: empty if there is no way. Null where there never is.
    std::optional<DispatchPlan> (*plan_long)(const Addressable& most,
                                             const operators::Descriptor& descriptor) = nullptr;
};

using Bindings = std::vector<Binding>;

/// Every file with rows. Written by the build.
extern const std::span<const core::RegistryFile<Bindings>> bindings;

/// All rows by operator.
[[nodiscard]] const core::Registry<Bindings>& all_bindings();

/// Null when the operator has no shader yet.
[[nodiscard]] const Binding* find_binding(std::string_view short_name);

}  // namespace dmlconform::d3d12
