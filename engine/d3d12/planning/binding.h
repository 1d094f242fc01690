// A binding connects an operator with its shaders. A file FAMILY/FILE_bindings.cpp defines FILE_bindings(), which
// returns the entries of one operator or of several.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/registry.h"
#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/d3d12/planning/part.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

struct Binding {
    /// The operator's short name: "SLICE1".
    std::string_view name;
    /// Plans a valid descriptor. A pure function: equal descriptors lead to equal plans.
    std::function<DispatchPlan(const operators::Descriptor& descriptor)> plan;
    /// All variants that a plan may name, so that they can be compiled in advance.
    std::function<std::vector<ShaderVariant>()> variants;
    /// Says why the shaders cannot compute a valid descriptor. Null if they can compute all.
    std::function<std::optional<std::string>(const operators::Descriptor& descriptor)> unsupported = nullptr;
    /// Allows temporaries much larger than the descriptor's tensors.
    bool has_large_temporaries = false;
    /// Reduces the tensors to those for a part of the first output: see part.h. Returns false if the dimension cannot
    /// be cut, because results along it depend on each other. Null if that is true for all dimensions.
    bool (*cut)(Cut& cut) = nullptr;
    /// Plans work that is too large for `plan` and cannot be cut. Empty if that is impossible; null if it always is.
    std::optional<DispatchPlan> (*plan_long)(const Addressable& most,
                                             const operators::Descriptor& descriptor) = nullptr;
};

using Bindings = std::vector<Binding>;

/// The files with bindings. The build writes this list.
extern const std::span<const core::RegistryFile<Bindings>> bindings;

/// All bindings by operator.
[[nodiscard]] const core::Registry<Bindings>& all_bindings();

/// Null if the operator has no shader.
[[nodiscard]] const Binding* find_binding(std::string_view short_name);

}  // namespace dmlconform::d3d12
