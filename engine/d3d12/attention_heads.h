// The heads of the attentions' queries, keys and values: where they are, and the dispatch of
// shaders/attention_heads.hlsl that puts them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/core/strided.h"
#include "engine/core/tensor_desc.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/operators/rules/attention.h"

namespace dmlconform::d3d12 {

/// Where the elements of heads are: the first one, and strides.
struct Heads {
    BufferRef buffer;
    std::int64_t start = 0;
    std::int64_t batch = 0;
    std::int64_t head = 0;
    std::int64_t position = 0;
    std::int64_t element = 0;
};

/// The last strides of a tensor. The dimensions in front of these have one element.
[[nodiscard]] core::Strides last_strides(const core::TensorDesc& desc, std::size_t count);

/// Heads of so many elements one after the other in a tensor's last dimension.
[[nodiscard]] Heads heads_in_rows(BufferRef buffer, const core::TensorDesc& desc, std::uint64_t size);

/// Without gaps: of each batch all heads, of each head all positions.
[[nodiscard]] Heads packed_heads(BufferRef buffer, std::uint64_t heads, std::uint64_t positions, std::uint64_t size);

enum class AttentionOperand : std::uint8_t { queries, keys, values };

/// An operand as products take it: in FP32, with its past and its bias, from the start of a buffer on. This may be its
/// tensor. Else the plan gets a temporary, and a dispatch that fills it. The same dispatch writes what is present.
[[nodiscard]] Heads gather(DispatchPlan& plan, const operators::Descriptor& descriptor, AttentionOperand operand);

/// How many elements the temporary of an operand has.
[[nodiscard]] double gathered_elements(const operators::AttentionShape& shape, AttentionOperand operand);

/// A number for a constant buffer, modulo 2^32.
template <class Integer>
[[nodiscard]] std::uint32_t word(Integer number) {
    return static_cast<std::uint32_t>(number);
}

/// Of a tensor that an operator has a field for: where dispatches find it. Absent without a tensor.
[[nodiscard]] BufferRef input_of(const operators::Descriptor& descriptor, std::string_view field);

}  // namespace dmlconform::d3d12
