// Constant buffers whose members C++ and HLSL both include.
#pragma once

#include <array>
#include <cstdint>

namespace dmlconform::d3d12 {

/// The types that the members have in HLSL. A structure derives from this and includes the members.
struct ConstantBuffer {
    using uint = std::uint32_t;
    struct alignas(16) uint4 {
        std::array<std::uint32_t, 4> words{};
    };
};

}  // namespace dmlconform::d3d12
