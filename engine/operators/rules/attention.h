// The shape of MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: the numbers that determine the sizes of their tensors.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

struct AttentionShape {
    std::uint64_t batch = 0;
    std::uint64_t queries = 0;
    std::uint64_t keys = 0;
    std::uint64_t past = 0;
    std::uint64_t heads = 0;
    std::uint64_t key_heads = 0;
    std::uint64_t size = 0;
    std::uint64_t value_size = 0;

    [[nodiscard]] std::uint64_t all_keys() const { return past + keys; }
};

/// Derives the shape from a descriptor that has heads, queries, keys and values. Empty if leading sizes are not 1; a
/// valid descriptor always has a shape.
[[nodiscard]] std::optional<AttentionShape> attention_shape(const Descriptor& descriptor);

}  // namespace dmlconform::operators
