// Writes and parses the headers of frames.
#include "engine/worker/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace dmlconform::worker {
namespace {

constexpr std::array<std::uint8_t, 4> magic{'d', 'm', 'l', 'w'};

}  // namespace

core::Result<void> append_frame(const nlohmann::json& message, std::vector<std::uint8_t>& to) {
    const std::size_t start = to.size();
    to.insert(to.end(), magic.begin(), magic.end());
    to.resize(start + frame_header_size);
    nlohmann::json::to_cbor(message, to);
    const std::size_t size = to.size() - start - frame_header_size;
    if (size > largest_message) {
        to.resize(start);
        return core::fail(fmt::format("a message of {} bytes is too large for the worker protocol, which takes {}",
                                      size, largest_message));
    }
    for (std::size_t i = 0; i < 4; ++i) {
        to[start + 4 + i] = static_cast<std::uint8_t>(size >> (8 * i));
    }
    return {};
}

core::Result<std::uint32_t> message_size(std::span<const std::byte, frame_header_size> header, std::uint64_t most) {
    std::string text;
    for (const std::byte byte : header) {
        text.push_back(std::to_integer<char>(byte));
    }
    if (!std::equal(magic.begin(), magic.end(), text.begin(),
                    [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); })) {
        return core::fail(fmt::format("it begins with \"{}\" instead of a frame's header", text));
    }
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        size |= std::to_integer<std::uint32_t>(header[4 + i]) << (8 * i);
    }
    if (size > most) {
        return core::fail(fmt::format("it announces {} bytes; {} are allowed", size, most));
    }
    return size;
}

}  // namespace dmlconform::worker
