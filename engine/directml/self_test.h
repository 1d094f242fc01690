// Whether DirectML computes at all on the device it was given.
#pragma once

#include "engine/engine.h"

namespace dmlconform::directml {

/// Copies four numbers with the simplest operator there is. With a graphics driver that is too old every call succeeds
/// and nothing is written: the error says so.
[[nodiscard]] core::Result<void> self_test(Engine& engine);

}  // namespace dmlconform::directml
