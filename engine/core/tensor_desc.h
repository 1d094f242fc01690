// The layout of one tensor: DML_BUFFER_TENSOR_DESC as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/data_type.h"

namespace dmlconform::core {

/// An upper bound: no operator of DirectML takes more dimensions.
inline constexpr std::size_t max_dimension_count = 8;

/// Sizes or strides of a tensor, outermost dimension first. Strides are in elements.
using Dimensions = std::vector<std::uint32_t>;

/// Values of DML_TENSOR_FLAGS.
enum class TensorFlags : std::uint32_t { none = 0, owned_by_dml = 1 };

struct TensorDesc {
    DataType data_type = DataType::unknown;
    TensorFlags flags = TensorFlags::none;
    Dimensions sizes;
    /// Empty for a packed, row-major tensor. A stride of 0 repeats an element along the dimension (inputs only).
    std::optional<Dimensions> strides;
    /// TotalTensorSizeInBytes: at least the end of the last addressed element.
    std::uint64_t total_bytes = 0;
    /// GuaranteedBaseOffsetAlignment: a power of two, or 0 for no guarantee.
    std::uint32_t base_offset_alignment = 0;

    /// Makes a packed tensor with the smallest total size that DirectML documents (a multiple of 4).
    /// minimum_total_bytes must have a value for the sizes.
    [[nodiscard]] static TensorDesc packed(DataType type, Dimensions sizes);

    bool operator==(const TensorDesc&) const = default;
};

/// Product of the sizes, which is 1 for an empty list. Empty on 64-bit overflow.
[[nodiscard]] std::optional<std::uint64_t> element_count(std::span<const std::uint32_t> sizes);

/// Row-major strides of a tensor without gaps, in elements. They have 64 bits because sizes from a file may need them.
/// element_count must have a value for the sizes.
[[nodiscard]] std::vector<std::uint64_t> packed_strides(std::span<const std::uint32_t> sizes);

/// The tensor's own strides, or the packed ones.
[[nodiscard]] std::vector<std::uint64_t> effective_strides(const TensorDesc& desc);

/// Number of elements from the start of the tensor to the end of the last addressed one. Empty on overflow.
[[nodiscard]] std::optional<std::uint64_t> addressed_extent(const TensorDesc& desc);

/// Bytes to the end of the last addressed element, rounded up to a multiple of 4. Empty on overflow. This is
/// DMLCalcBufferTensorSize of DirectML's documentation.
[[nodiscard]] std::optional<std::uint64_t> minimum_total_bytes(const TensorDesc& desc);

/// True when consecutive elements in row-major order are adjacent in memory.
[[nodiscard]] bool is_packed(const TensorDesc& desc);

/// For messages: "FLOAT32 [1,1,4,4]", with strides and flags unless they have their defaults.
[[nodiscard]] std::string to_string(const TensorDesc& desc);

/// For messages: "[1,1,4,4]".
[[nodiscard]] std::string to_string(std::span<const std::uint32_t> dimensions);

}  // namespace dmlconform::core
