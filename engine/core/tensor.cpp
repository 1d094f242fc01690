// Allocation, copying and widening of tensors.
#include "engine/core/tensor.h"

#include <algorithm>
#include <limits>

#include "engine/core/element.h"
#include "engine/core/temporary_file.h"

namespace dmlconform::core {

namespace {

/// Smaller tensors stay in memory: a file takes whole pages, and each one a few system calls.
constexpr std::size_t least_bytes_in_file = std::size_t{256} << 10;

std::size_t addressable(std::uint64_t size) {
    if (size > std::numeric_limits<std::size_t>::max()) {
        throw std::bad_alloc();
    }
    return static_cast<std::size_t>(size);
}

}  // namespace

Buffer::Buffer(std::uint64_t size) : size_(addressable(size)) {
    if (size_ != 0) {
        data_.reset(static_cast<std::byte*>(::operator new(size_, alignment)));
    }
}

Buffer Buffer::in_file(std::uint64_t size) {
    if (size < least_bytes_in_file) {
        return Buffer(size);
    }
    Buffer buffer;
    buffer.size_ = addressable(size);
    buffer.data_ = {map_temporary_file(buffer.size_), Free{buffer.size_}};
    return buffer;
}

void Buffer::leave_memory() const {
    if (is_in_file()) {
        core::leave_memory(data_.get(), size_);
    }
}

void Buffer::Free::operator()(std::byte* data) const {
    if (mapped != 0) {
        unmap_temporary_file(data, mapped);
    } else {
        ::operator delete(data, alignment);
    }
}

Tensor tensor_in_file(TensorDesc layout) {
    Tensor tensor;
    tensor.desc = std::move(layout);
    tensor.buffer = Buffer::in_file(tensor.desc.total_bytes);
    return tensor;
}

void move_to_file(Tensor& tensor) {
    if (!tensor.buffer.is_in_file() && tensor.buffer.bytes().size() >= least_bytes_in_file) {
        Buffer moved = Buffer::in_file(tensor.buffer.bytes().size());
        std::ranges::copy(tensor.buffer.bytes(), moved.bytes().begin());
        tensor.buffer = std::move(moved);
    }
    tensor.buffer.leave_memory();
}

Strides signed_strides(const TensorDesc& desc) {
    const auto strides = effective_strides(desc);
    return {strides.begin(), strides.end()};
}

Tensor widened_copy(const Tensor& tensor) {
    const bool is_signed = is_signed_integer(tensor.desc.data_type);
    Tensor copy(TensorDesc::packed(is_signed ? DataType::int8 : DataType::uint8, tensor.desc.sizes));
    auto target = copy.as<std::uint8_t>().begin();
    const StridedRuns<1> runs(tensor.desc.sizes, {signed_strides(tensor.desc)});
    runs.for_each_element([&](const auto& offset) {
        const auto index = static_cast<std::uint64_t>(offset[0]);
        const auto bits = static_cast<unsigned>(load_element(tensor.buffer.bytes(), tensor.desc.data_type, index));
        *target++ = static_cast<std::uint8_t>(is_signed && bits > 7 ? bits | 0xf0u : bits);
    });
    return copy;
}

Tensor packed_copy(const Tensor& tensor) {
    Tensor packed(TensorDesc::packed(tensor.desc.data_type, tensor.desc.sizes));
    const DataType type = tensor.desc.data_type;
    if (bytes_of(type) == 0) {
        std::ranges::fill(packed.buffer.bytes(), std::byte{0});
        const StridedRuns<1> runs(tensor.desc.sizes, {signed_strides(tensor.desc)});
        std::uint64_t index = 0;
        runs.for_each_element([&](const auto& offset) {
            const auto from = static_cast<std::uint64_t>(offset[0]);
            store_element(packed.buffer.bytes(), type, index++, load_element(tensor.buffer.bytes(), type, from));
        });
        return packed;
    }
    with_type(type, [&]<class T>() {
        const StridedRuns<1> runs(tensor.desc.sizes, {signed_strides(tensor.desc)});
        const T* const from = tensor.as<T>().data();
        T* to = packed.as<T>().data();
        runs.for_each_element([&](const auto& offset) { *to++ = from[offset[0]]; });
    });
    return packed;
}

}  // namespace dmlconform::core
