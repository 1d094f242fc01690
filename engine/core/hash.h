// Hashes that are the same on every machine and in every run, unlike std::hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace dmlconform::core {

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325u;

/// FNV-1a. `before` is the hash of the preceding text, if there is any.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t before = fnv1a_start) {
    for (const char c : text) {
        before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    return before;
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), which spreads similar numbers: one of 64 bits, or several
/// in a vector.
template <class Bits>
constexpr void mix(Bits& value) {
    value = (value ^ (value >> 30u)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27u)) * 0x94d049bb133111ebu;
    value ^= value >> 31u;
}
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
    mix(value);
    return value;
}

}  // namespace dmlconform::core
