// How much memory ONNX's messages take, so that the memory of a model can be limited.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/interop/onnx_messages.h"

namespace dmlconform::onnx {

/// What an allocator takes for a block of this size: glibc's has a header of 8 bytes and rounds up to 16.
[[nodiscard]] constexpr std::uint64_t memory_of_block(std::uint64_t bytes) {
    constexpr std::uint64_t least = 32;
    return bytes == 0 ? 0 : std::max(least, (bytes + 8 + 15) / 16 * 16);
}

/// What a text of that length takes besides the object itself, in which short ones lie.
[[nodiscard]] constexpr std::uint64_t memory_of_text(std::uint64_t length) {
    constexpr std::uint64_t most_inside = 15;
    return length <= most_inside ? 0 : memory_of_block(length + 1);
}

/// What an element of a std::list takes besides what it refers to.
template <class T>
inline constexpr std::uint64_t memory_of_list_element = memory_of_block(sizeof(T) + 2 * sizeof(void*));

/// What a message takes, with all that is in it, besides the object itself.
[[nodiscard]] std::uint64_t memory_inside(const ModelProto& model);
[[nodiscard]] std::uint64_t memory_inside(const NodeProto& node);
[[nodiscard]] std::uint64_t memory_inside(const TensorProto& tensor);
[[nodiscard]] std::uint64_t memory_inside(const SparseTensorProto& tensor);

}  // namespace dmlconform::onnx
