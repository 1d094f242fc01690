// Frames of the worker protocol: eight bytes of header, then a message in CBOR.
//
// The header is "dmlw" and the length of what follows, 32 bits, little endian. The word in front of each frame tells at
// once that something else was written in between.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::worker {

inline constexpr std::size_t frame_header_size = 8;
/// What a message may take at most, in bytes. Nothing near it should be allocated before it has arrived.
inline constexpr std::uint32_t largest_message = 0x7fffffff;

/// Appends the message as a frame; an error, with `to` as it was, when it is too large for one.
[[nodiscard]] core::Result<void> append_frame(const nlohmann::json& message, std::vector<std::uint8_t>& to);

/// The length of the message that follows; an error if this is not a header, or the length is beyond `most`.
[[nodiscard]] core::Result<std::uint32_t> message_size(std::span<const std::byte, frame_header_size> header,
                                                       std::uint64_t most = largest_message);

}  // namespace dmlconform::worker
