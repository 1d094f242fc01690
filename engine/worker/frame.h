// Frames of the worker protocol: a header of eight bytes, then a message in CBOR.
//
// The header is "dmlw" and the length of the message, 32 bits, little endian. The word "dmlw" reveals other output
// between frames immediately.
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
/// Maximum size of a message in bytes. Memory is only allocated for data that have arrived.
inline constexpr std::uint32_t largest_message = 0x7fffffff;
/// Maximum growth of a buffer at a time while a message arrives, in bytes, because the announced length is untrusted.
inline constexpr std::size_t arrival_step = std::size_t{1} << 24;

/// Appends the message as a frame. Fails without changing `to` if it is too large.
[[nodiscard]] core::Result<void> append_frame(const nlohmann::json& message, std::vector<std::uint8_t>& to);

/// The length of the following message. Fails if this is not a header, or if the length exceeds `most`.
[[nodiscard]] core::Result<std::uint32_t> message_size(std::span<const std::byte, frame_header_size> header,
                                                       std::uint64_t most = largest_message);

}  // namespace dmlconform::worker
