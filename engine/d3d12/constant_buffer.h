// Constant buffers whose members C++ and HLSL both include.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dmlconform::d3d12 {

/// The types that the members have in HLSL. A structure derives from this and includes the members.
struct ConstantBuffer {
    using uint = std::uint32_t;
    struct alignas(8) uint2 {
        std::array<std::uint32_t, 2> words{};
    };
    struct alignas(16) uint4 {
        std::array<std::uint32_t, 4> words{};
    };
};

/// Puts words into the rows of a table, which has room for them.
inline void put_rows(std::span<const std::uint32_t> words, ConstantBuffer::uint4* table) {
    constexpr std::size_t row_words = 4;
    for (std::size_t i = 0; i < words.size(); ++i) {
        table[i / row_words].words[i % row_words] = words[i];
    }
}

}  // namespace dmlconform::d3d12
