// What requests and answers of the worker protocol hold, beside descriptors and tensors: docs/worker-protocol.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/core/error.h"
#include "engine/engine.h"

namespace dmlconform::worker {

/// Changes when a worker of the old protocol could misunderstand a request of the new one, or the reverse.
inline constexpr std::uint64_t protocol_version = 1;

/// Readers trust nothing: each gives an error for what is not as the writer beside it makes it. Texts have an
/// end, but may hold any characters.

[[nodiscard]] nlohmann::json to_json(const EngineInfo& info);
[[nodiscard]] core::Result<EngineInfo> info_from_json(const nlohmann::json& answer);

[[nodiscard]] nlohmann::json to_json(const Roofline& roofline);
[[nodiscard]] core::Result<Roofline> roofline_from_json(const nlohmann::json& answer);

/// The value of the member "error": what every answer may be instead of what was asked for.
[[nodiscard]] nlohmann::json to_json(const core::Error& error);
[[nodiscard]] core::Error error_from_json(const nlohmann::json& value);

/// The value of the member "rejected".
[[nodiscard]] nlohmann::json to_json(const operators::Rejection& rejection);
[[nodiscard]] core::Result<operators::Rejection> rejection_from_json(const nlohmann::json& value);

/// A member that is a text; nothing when it is absent or something else.
[[nodiscard]] std::optional<std::string> text_member(const nlohmann::json& object, const char* key);
/// A member that is an unsigned integer; nothing when it is absent or something else.
[[nodiscard]] std::optional<std::uint64_t> unsigned_member(const nlohmann::json& object, const char* key);

}  // namespace dmlconform::worker
