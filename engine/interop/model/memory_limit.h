// How much memory a model may take while it is imported and judged, besides its tensors. A few bytes of a hostile file
// can stand for a node, or for a call of a function with thousands of nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::interop {

/// Small files consist of names and attributes. With this, 100,000 nodes of 20 bytes can be imported. docs/models.md
/// says 96 MiB: the program itself takes 14 MiB, and what is freed before the last is taken is not all used again.
inline constexpr std::uint64_t least_memory_to_read = std::uint64_t{56} << 20;

/// With this, 40,000 such nodes can be judged.
inline constexpr std::uint64_t least_memory_to_judge = std::uint64_t{128} << 20;

/// What judging takes for a node of the graph, besides its tensors: its result, its values, and an engine's plan of the
/// graph. The test ModelMemory measures it.
inline constexpr std::uint64_t memory_to_judge_node = 2560;

/// The limit for a file of this size. docs/models.md says so.
[[nodiscard]] constexpr std::uint64_t memory_for_model(std::uint64_t file_bytes,
                                                       std::uint64_t least = least_memory_to_read) {
    constexpr std::uint64_t per_byte = 4;
    return least + per_byte * file_bytes;
}

[[nodiscard]] std::uint64_t memory_for_model_at(const std::filesystem::path& path,
                                                std::uint64_t least = least_memory_to_read);

/// Refuses a model. `where` says at which node the memory is not enough any more; it may be empty.
[[nodiscard]] core::Error too_much_memory(std::string_view where);

}  // namespace dmlconform::interop
