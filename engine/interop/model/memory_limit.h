// How much memory a model may take while it is imported, besides its tensors. A few bytes of a hostile file can stand
// for a node, or for a call of a function with thousands of nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::interop {

/// The limit for a file of this size. docs/models.md says so.
[[nodiscard]] constexpr std::uint64_t memory_for_model(std::uint64_t file_bytes) {
    // Small files consist of names and attributes. With this, 100,000 nodes of 20 bytes can be imported. docs/models.md
    // says 96 MiB: the program itself takes 14 MiB, and what is freed before the last is taken is not all used again.
    constexpr std::uint64_t least = std::uint64_t{56} << 20;
    constexpr std::uint64_t per_byte = 4;
    return least + per_byte * file_bytes;
}

[[nodiscard]] std::uint64_t memory_for_model_at(const std::filesystem::path& path);

/// Refuses a model. `where` says at which node the memory is not enough any more; it may be empty.
[[nodiscard]] core::Error too_much_memory(std::string_view where);

}  // namespace dmlconform::interop
