// CBOR (RFC 8949) as the worker protocol uses it, read from a process that may write anything.
//
// Writing is nlohmann-json's. Reading is not: its parser calls itself for every level of nested indefinite strings,
// without a limit, and reads byte strings, which here are tensors, byte by byte.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "engine/core/error.h"

namespace dmlconform::worker {

/// Decodes exactly one data item that fills `bytes`: integers, byte strings, texts, arrays, maps with texts as keys,
/// false, true, null, and floating-point numbers of all widths. Tags, indefinite lengths, other simple values, more
/// than 16 levels of nesting and more than a million values are errors. No length is believed before its content is
/// there.
[[nodiscard]] core::Result<nlohmann::json> decode_cbor(std::span<const std::byte> bytes);

}  // namespace dmlconform::worker
