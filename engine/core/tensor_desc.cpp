// Sizes, strides and byte counts of tensors, in checked 64-bit arithmetic.
#include "engine/core/tensor_desc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/core/checked.h"

namespace dmlconform::core {

TensorDesc TensorDesc::packed(DataType type, Dimensions sizes) {
    TensorDesc desc;
    desc.data_type = type;
    desc.sizes = std::move(sizes);
    desc.total_bytes = minimum_total_bytes(desc).value();
    return desc;
}

std::optional<std::uint64_t> element_count(std::span<const std::uint32_t> sizes) {
    std::uint64_t count = 1;
    for (const std::uint32_t size : sizes) {
        const auto product = checked_multiply(count, size);
        if (!product) {
            return std::nullopt;
        }
        count = *product;
    }
    return count;
}

std::vector<std::uint64_t> packed_strides(std::span<const std::uint32_t> sizes) {
    std::vector<std::uint64_t> strides(sizes.size());
    std::uint64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= sizes[i];
    }
    return strides;
}

std::vector<std::uint64_t> effective_strides(const TensorDesc& desc) {
    if (desc.strides) {
        return {desc.strides->begin(), desc.strides->end()};
    }
    return packed_strides(desc.sizes);
}

std::optional<std::uint64_t> addressed_extent(const TensorDesc& desc) {
    const auto count = element_count(desc.sizes);
    if (!count || *count == 0 || !desc.strides) {
        return count;
    }
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < desc.sizes.size() && i < desc.strides->size(); ++i) {
        // Both factors are below 2^32, so only the sum can overflow.
        const auto sum = checked_add(last, std::uint64_t{desc.sizes[i] - 1} * (*desc.strides)[i]);
        if (!sum) {
            return std::nullopt;
        }
        last = *sum;
    }
    return checked_add(last, 1);
}

std::optional<std::uint64_t> minimum_total_bytes(const TensorDesc& desc) {
    const auto extent = addressed_extent(desc);
    const auto bits = extent ? checked_multiply(*extent, bits_of(desc.data_type)) : std::nullopt;
    const auto padded = bits ? checked_add(*bits, 31) : std::nullopt;
    if (!padded) {
        return std::nullopt;
    }
    return *padded / 32 * 4;
}

bool is_packed(const TensorDesc& desc) {
    if (!desc.strides) {
        return true;
    }
    const auto packed = packed_strides(desc.sizes);
    for (std::size_t i = 0; i < desc.sizes.size(); ++i) {
        // A stride is not used if the size is 1.
        if (desc.sizes[i] != 1 && (*desc.strides)[i] != packed[i]) {
            return false;
        }
    }
    return true;
}

std::string to_string(std::span<const std::uint32_t> dimensions) {
    return fmt::format("[{}]", fmt::join(dimensions, ","));
}

std::string to_string(const TensorDesc& desc) {
    std::string text = fmt::format("{} {}", name(desc.data_type), to_string(desc.sizes));
    if (desc.strides) {
        text += fmt::format(" strides {}", to_string(*desc.strides));
    }
    if (minimum_total_bytes(desc) != desc.total_bytes) {
        text += fmt::format(" total {} bytes", desc.total_bytes);
    }
    if (desc.base_offset_alignment != 0) {
        text += fmt::format(" aligned {}", desc.base_offset_alignment);
    }
    if (desc.flags == TensorFlags::owned_by_dml) {
        text += " OWNED_BY_DML";
    }
    return text;
}

}  // namespace dmlconform::core
