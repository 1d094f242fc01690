// Copies whose neighbours in the output are far apart in the source, for shaders/movement/transposition.hlsl.
#pragma once

#include <optional>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/movement/moved_units.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// The units must be arranged, as wide as possible, and have only a source and a target. Empty if the copy is not a
/// transposition, if it is too small for tiles, or if rows are not multiples of a word.
[[nodiscard]] std::optional<Dispatch> transposition(const MovedUnits& units, BufferRef source, BufferRef target);

/// The same for a copy of all elements.
[[nodiscard]] std::optional<Dispatch> transposition(const core::TensorDesc& from, const core::TensorDesc& to,
                                                    BufferRef source, BufferRef target);

/// All variants that a transposition may use.
[[nodiscard]] std::vector<ShaderVariant> transposition_variants();

}  // namespace dmlconform::d3d12
