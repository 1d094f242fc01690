// Timed executions of a compiled operator.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/core/tensor.h"
#include "engine/engine.h"
#include "engine/run/result.h"

namespace dmlconform::run {

/// Binds, executes and reads. Returns the reason of a failure.
[[nodiscard]] std::optional<std::string> execute_timed(Executable& executable,
                                                       std::span<const core::Tensor* const> inputs,
                                                       std::span<core::Tensor* const> outputs, Timing& timing);

/// Executes up to `most` times, fewer if that takes long, for Timing::steady. Returns the reason of a failure.
[[nodiscard]] std::optional<std::string> execute_again(Executable& executable, std::size_t most, Timing& timing);

}  // namespace dmlconform::run
