// The shape of MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: the numbers that determine the sizes of their tensors.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// With formulas as numbers, sizes that are computed from them are formulas, too.
template <class Number>
struct AttentionNumbers {
    Number batch{};
    Number queries{};
    Number keys{};
    Number past{};
    Number heads{};
    Number key_heads{};
    Number size{};
    Number value_size{};

    [[nodiscard]] Number all_keys() const { return past + keys; }
};

using AttentionShape = AttentionNumbers<std::uint64_t>;

/// Derives the shape from a descriptor that has heads, queries, keys and values. Empty if leading sizes are not 1; a
/// valid descriptor always has a shape.
[[nodiscard]] std::optional<AttentionShape> attention_shape(const Descriptor& descriptor);

}  // namespace dmlconform::operators
