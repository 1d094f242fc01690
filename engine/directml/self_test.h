// Tests whether DirectML computes anything on the device.
#pragma once

#include "engine/engine.h"

namespace dmlconform::directml {

/// Copies four numbers with the simplest operator. If the graphics driver is too old, every call succeeds but nothing
/// is written, which the error explains.
[[nodiscard]] core::Result<void> self_test(Engine& engine);

}  // namespace dmlconform::directml
