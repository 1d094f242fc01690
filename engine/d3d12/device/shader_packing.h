// How bytecode is reordered before it is compressed: first the lowest byte of every 32-bit word, then the second one,
// and so on. Instructions of similar shaders differ in few bytes, so the runs of equal bytes become longer and come
// closer together: zlib looks back 32 KB only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dmlconform::d3d12 {

[[nodiscard]] inline std::vector<std::uint8_t> bytes_in_planes(std::span<const std::uint32_t> words) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(words.size() * sizeof(std::uint32_t));
    for (unsigned shift = 0; shift < 32; shift += 8) {
        for (const std::uint32_t word : words) {
            bytes.push_back(static_cast<std::uint8_t>(word >> shift));
        }
    }
    return bytes;
}

/// The inverse of bytes_in_planes. The size must be a multiple of 4.
[[nodiscard]] inline std::vector<std::uint32_t> words_of_planes(std::span<const std::uint8_t> bytes) {
    std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
    for (std::size_t plane = 0; plane < sizeof(std::uint32_t); ++plane) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] |= std::uint32_t{bytes[plane * words.size() + i]} << (8 * plane);
        }
    }
    return words;
}

}  // namespace dmlconform::d3d12
