// The contents of requests and answers of the worker protocol besides descriptors and tensors: docs/worker-protocol.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/core/error.h"
#include "engine/engine.h"

namespace dmlconform::worker {

/// Incremented when workers or clients of the old version could misunderstand the new one.
inline constexpr std::uint64_t protocol_version = 1;

/// Version of the requests for graphs, which are optional: a worker announces support when it is asked for its
/// identity.
inline constexpr std::uint64_t graphs_version = 1;

/// Input is untrusted: each reader fails unless its input has the form that the corresponding writer produces. Texts
/// have a limited length, but may contain any characters.

[[nodiscard]] nlohmann::json to_json(const EngineInfo& info);
[[nodiscard]] core::Result<EngineInfo> info_from_json(const nlohmann::json& answer);

/// The members that say what computes: adapter, driver, libraries, featureLevel. Each may be absent.
[[nodiscard]] core::Result<void> read_device(const nlohmann::json& object, EngineInfo& info);

/// The opset of the ONNX models that a worker wants that says this of itself; nothing if it wants descriptors.
[[nodiscard]] core::Result<std::optional<std::int64_t>> wanted_opset(const nlohmann::json& info_answer);

/// Whether a worker that says this of itself takes graphs as this version has them.
[[nodiscard]] bool takes_graphs(const nlohmann::json& info_answer);

[[nodiscard]] nlohmann::json to_json(const Roofline& roofline);
[[nodiscard]] core::Result<Roofline> roofline_from_json(const nlohmann::json& answer);

/// The value of the member "error", which any answer may have.
[[nodiscard]] nlohmann::json to_json(const core::Error& error);
[[nodiscard]] core::Error error_from_json(const nlohmann::json& value);

/// The value of the member "rejected".
[[nodiscard]] nlohmann::json to_json(const operators::Rejection& rejection);
[[nodiscard]] core::Result<operators::Rejection> rejection_from_json(const nlohmann::json& value);

/// A string member; empty if it is absent or not a string.
[[nodiscard]] std::optional<std::string> text_member(const nlohmann::json& object, const char* key);
/// An unsigned integer member; empty if it is absent or not one.
[[nodiscard]] std::optional<std::uint64_t> unsigned_member(const nlohmann::json& object, const char* key);

}  // namespace dmlconform::worker
