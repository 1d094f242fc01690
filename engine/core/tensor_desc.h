// The layout of one tensor: DirectML's DML_BUFFER_TENSOR_DESC as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/data_type.h"

namespace dmlconform::core {

/// More dimensions than any operator of DirectML takes.
inline constexpr std::size_t max_dimension_count = 8;

/// Extents or strides of a tensor, outermost dimension first. Strides are in elements.
using Dimensions = std::vector<std::uint32_t>;

/// Values of DML_TENSOR_FLAGS.
enum class TensorFlags : std::uint32_t { none = 0, owned_by_dml = 1 };

struct TensorDesc {
    DataType data_type = DataType::unknown;
    TensorFlags flags = TensorFlags::none;
    Dimensions sizes;
    /// Absent: packed, row-major. 0 repeats an element along the dimension (inputs only).
    std::optional<Dimensions> strides;
    /// Bytes the tensor may use; at least the end of its last addressed element.
    std::uint64_t total_bytes = 0;
    /// Power of two, or 0 for no guarantee.
    std::uint32_t base_offset_alignment = 0;

    /// A packed tensor with the smallest total size that DirectML documents (a multiple of 4).
    /// The sizes must be ones for which minimum_total_bytes has a value.
    [[nodiscard]] static TensorDesc packed(DataType type, Dimensions sizes);

    bool operator==(const TensorDesc&) const = default;
};

/// Product of the sizes; nothing when it does not fit 64 bits. The product of no sizes is 1.
[[nodiscard]] std::optional<std::uint64_t> element_count(std::span<const std::uint32_t> sizes);

/// Row-major strides of a tensor without gaps, in elements, 64 bits wide because a file may ask for more than fits 32.
/// The element count must have a value.
[[nodiscard]] std::vector<std::uint64_t> packed_strides(std::span<const std::uint32_t> sizes);

/// The tensor's own strides, or the packed ones.
[[nodiscard]] std::vector<std::uint64_t> effective_strides(const TensorDesc& desc);

/// Number of elements from the start of the tensor to the end of the last one it addresses; nothing on overflow.
[[nodiscard]] std::optional<std::uint64_t> addressed_extent(const TensorDesc& desc);

/// Bytes to the end of the last addressed element, rounded up to 4; nothing on overflow.
/// This is DMLCalcBufferTensorSize of DirectML's documentation.
[[nodiscard]] std::optional<std::uint64_t> minimum_total_bytes(const TensorDesc& desc);

/// True when consecutive elements in row-major order are adjacent in memory.
[[nodiscard]] bool is_packed(const TensorDesc& desc);

/// "FLOAT32 [1,1,4,4]", with strides and flags where they are not the default.
[[nodiscard]] std::string to_string(const TensorDesc& desc);

/// "[1,1,4,4]".
[[nodiscard]] std::string to_string(std::span<const std::uint32_t> dimensions);

}  // namespace dmlconform::core
