// Copies to a packed output in rows, for shaders/movement/movement_rows.hlsl.
#pragma once

#include <optional>
#include <vector>

#include "engine/d3d12/movement/moved_units.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// The units must be arranged, as wide as possible, and have only a source and a target. Empty if the output has gaps,
/// if rows are shorter than 16 bytes, or if narrow units are not adjacent in the source.
[[nodiscard]] std::optional<Dispatch> row_movement(const MovedUnits& units, BufferRef source, BufferRef target);

/// All variants that a copy of rows may use.
[[nodiscard]] std::vector<ShaderVariant> row_movement_variants();

}  // namespace dmlconform::d3d12
