// The heads of attention's queries, keys and values: their memory layout, and the dispatch of
// shaders/attention/attention_heads.hlsl that assembles them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/core/strided.h"
#include "engine/core/tensor_desc.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// The numbers of queries and so on.
struct AttentionShape {
    explicit AttentionShape(const operators::Descriptor& descriptor);

    std::uint64_t batch;
    std::uint64_t queries;
    std::uint64_t keys = 0;
    std::uint64_t past = 0;
    std::uint64_t heads;
    std::uint64_t key_heads;
    /// Elements of a head of queries and keys, and of values.
    std::uint64_t size = 0;
    std::uint64_t value_size;

    [[nodiscard]] std::uint64_t all_keys() const { return past + keys; }
};

/// Layout of heads: the first element, and strides.
struct Heads {
    BufferRef buffer;
    std::int64_t start = 0;
    std::int64_t batch = 0;
    std::int64_t head = 0;
    std::int64_t position = 0;
    std::int64_t element = 0;
};

/// The strides of a tensor's last dimensions. The preceding dimensions have size 1.
[[nodiscard]] core::Strides last_strides(const core::TensorDesc& desc, std::size_t count);

/// Heads that are concatenated in a tensor's last dimension.
[[nodiscard]] Heads heads_in_rows(BufferRef buffer, const core::TensorDesc& desc, std::uint64_t size);

/// Packed heads: {batch, head, position, element}.
[[nodiscard]] Heads packed_heads(BufferRef buffer, std::uint64_t heads, std::uint64_t positions, std::uint64_t size);

enum class AttentionOperand : std::uint8_t { queries, keys, values };

/// Provides an operand as products read it: in FP32, with its past and bias, from the start of a buffer. If a tensor
/// has that form already, it is used. Otherwise the plan gets a temporary and a dispatch that fills it, and also writes
/// the present output.
[[nodiscard]] Heads gather(DispatchPlan& plan, const operators::Descriptor& descriptor, AttentionOperand operand);

/// The number of elements of an operand's temporary.
[[nodiscard]] double gathered_elements(const AttentionShape& shape, AttentionOperand operand);

/// Converts a number for a constant buffer, modulo 2^32.
template <class Integer>
[[nodiscard]] std::uint32_t word(Integer number) {
    return static_cast<std::uint32_t>(number);
}

/// The buffer of an input, given its field's name. Absent if the tensor is absent.
[[nodiscard]] BufferRef input_of(const operators::Descriptor& descriptor, std::string_view field);

}  // namespace dmlconform::d3d12
