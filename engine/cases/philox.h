// Philox 4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC
// 2011).
//
// The n-th number depends only on the key and n, so numbers can be computed in any order and on any machine.
#pragma once

#include <array>
#include <cstdint>

namespace dmlconform::cases {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

[[nodiscard]] constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
    constexpr int rounds = 10;
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t first = std::uint64_t{0xd2511f53u} * counter[0];
        const std::uint64_t second = std::uint64_t{0xcd9e8d57u} * counter[2];
        counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(second),
                   static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(first)};
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return counter;
}

/// The 64-bit number at `index` in the stream that `seed` selects. Each block of the generator yields two numbers.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    const std::uint64_t block = index / 2;
    const auto numbers =
        philox4x32_10({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const std::size_t half = index % 2 * 2;
    return std::uint64_t{numbers[half + 1]} << 32 | numbers[half];
}

}  // namespace dmlconform::cases
