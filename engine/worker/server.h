// The other end of the worker protocol: serves one engine to whoever writes requests.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "engine/core/error.h"
#include "engine/engine.h"

namespace dmlconform::worker {

/// Reads as many bytes as there is room for; false when the input ends before that.
using Source = std::function<bool(std::span<std::byte> to)>;
/// Writes all bytes and lets them go; false when nobody takes them any more.
using Sink = std::function<bool(std::span<const std::byte> bytes)>;

/// Answers requests until the input ends. `engine` may be the error why there is none: then that is the answer to every
/// request. The result is an error when what came in is not the protocol.
[[nodiscard]] core::Result<void> serve(const core::Result<std::unique_ptr<Engine>>& engine, const Source& source,
                                       const Sink& sink);

}  // namespace dmlconform::worker
