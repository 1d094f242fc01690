// Reads CBOR (RFC 8949) from untrusted processes, in the subset that the worker protocol uses.
//
// nlohmann-json writes CBOR, but its parser is unsuitable: it recurses without a limit for nested indefinite strings,
// and reads byte strings, which are tensors here, byte by byte.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "engine/core/error.h"

namespace dmlconform::worker {

/// Decodes exactly one data item that fills `bytes`: integers, byte strings, texts, arrays, maps with text keys, false,
/// true, null, and floating-point numbers of all widths. Fails for tags, indefinite lengths, other simple values, more
/// than 16 levels of nesting, and more than a million values. Memory is only allocated for data that are present.
[[nodiscard]] core::Result<nlohmann::json> decode_cbor(std::span<const std::byte> bytes);

}  // namespace dmlconform::worker
