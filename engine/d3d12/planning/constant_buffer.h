// Constant buffers whose members are declared in files that C++ and HLSL both include.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dmlconform::d3d12 {

/// Defines the HLSL types of members. A constant buffer derives from this and includes its members.
struct ConstantBuffer {
    using uint = std::uint32_t;
    struct alignas(8) uint2 {
        std::array<std::uint32_t, 2> words{};
    };
    struct alignas(16) uint4 {
        std::array<std::uint32_t, 4> words{};
    };
};

/// Copies words to the rows of a table, which must be large enough.
inline void put_rows(std::span<const std::uint32_t> words, ConstantBuffer::uint4* table) {
    constexpr std::size_t row_words = 4;
    for (std::size_t i = 0; i < words.size(); ++i) {
        table[i / row_words].words[i % row_words] = words[i];
    }
}

}  // namespace dmlconform::d3d12
