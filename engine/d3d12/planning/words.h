// Words, the units in which shaders read and write buffers.
#pragma once

#include <cstdint>

namespace dmlconform::d3d12 {

constexpr std::uint64_t word_bytes = 4;
constexpr std::uint64_t bits_per_byte = 8;

}  // namespace dmlconform::d3d12
