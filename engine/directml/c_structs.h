// The C structs by which DirectML takes an operator's description, as DirectML.h lays them out for 64-bit processors.
//
// The structs of single operators are not here: marshal.h makes their bytes from the catalogue.
#pragma once

#include <cstdint>

namespace dmlconform::directml {

/// DML_TENSOR_DESC and DML_OPERATOR_DESC: a number that says what `desc` points to.
struct TypedDesc {
    std::uint32_t type = 0;
    const void* desc = nullptr;
};

/// DML_TENSOR_TYPE_BUFFER.
inline constexpr std::uint32_t buffer_tensor_type = 1;

/// DML_BUFFER_TENSOR_DESC.
struct BufferTensorDesc {
    std::uint32_t data_type = 0;
    std::uint32_t flags = 0;
    std::uint32_t dimension_count = 0;
    const std::uint32_t* sizes = nullptr;
    const std::uint32_t* strides = nullptr;
    std::uint64_t total_bytes = 0;
    std::uint32_t base_offset_alignment = 0;
};

static_assert(sizeof(void*) == 8 && sizeof(TypedDesc) == 16 && sizeof(BufferTensorDesc) == 48);

}  // namespace dmlconform::directml
