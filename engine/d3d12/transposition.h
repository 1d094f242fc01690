// Copies whose neighbours in the output are far apart in the source: what shaders/transposition.hlsl does.
#pragma once

#include <optional>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/d3d12/moved_units.h"

namespace dmlconform::d3d12 {

/// The units must be arranged, as wide as they can be, and have only a source and a target. Empty if the copy is not a
/// transposition, or is too small for tiles, or if rows are not whole words.
[[nodiscard]] std::optional<Dispatch> transposition(const MovedUnits& units, BufferRef source, BufferRef target);

/// The same of a copy of all elements.
[[nodiscard]] std::optional<Dispatch> transposition(const core::TensorDesc& from, const core::TensorDesc& to,
                                                    BufferRef source, BufferRef target);

/// All that a transposition may name.
[[nodiscard]] std::vector<ShaderVariant> transposition_variants();

}  // namespace dmlconform::d3d12
