// The worker's side of the protocol: serves an engine to a client.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "engine/core/error.h"
#include "engine/engine.h"

namespace dmlconform::worker {

/// Reads as many bytes as fit; false if the input ends first.
using Source = std::function<bool(std::span<std::byte> to)>;
/// Writes and flushes all bytes; false if the client no longer reads.
using Sink = std::function<bool(std::span<const std::byte> bytes)>;

/// Answers the request `reference` in a worker that computes references, for inputs that are bound.
using ReferenceAnswer =
    std::function<nlohmann::json(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                                 const nlohmann::json& request)>;

/// Answers requests until the input ends. If `engine` is an error, it is the answer to every request. Fails if the
/// input violates the protocol.
[[nodiscard]] core::Result<void> serve(const core::Result<std::unique_ptr<Engine>>& engine, const Source& source,
                                       const Sink& sink, const ReferenceAnswer& reference = {});

}  // namespace dmlconform::worker
