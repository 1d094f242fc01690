// A tensor in host memory: its layout and its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "engine/core/strided.h"
#include "engine/core/tensor_desc.h"

namespace dmlconform::core {

/// Uninitialised bytes at a 64-byte boundary. Move-only; throws std::bad_alloc when there is no memory.
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::uint64_t size);

    [[nodiscard]] std::span<std::byte> bytes() { return {data_.get(), size_}; }
    [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

private:
    static constexpr std::align_val_t alignment{64};
    struct Free {
        void operator()(std::byte* data) const { ::operator delete(data, alignment); }
    };
    std::unique_ptr<std::byte, Free> data_;
    std::size_t size_ = 0;
};

struct Tensor {
    TensorDesc desc;
    Buffer buffer;

    Tensor() = default;
    /// Allocates desc.total_bytes, uninitialised.
    explicit Tensor(TensorDesc layout) : desc(std::move(layout)), buffer(desc.total_bytes) {}

    /// The total size as elements of T; elements between addressed ones are included.
    template <class T>
    [[nodiscard]] std::span<T> as() {
        return {reinterpret_cast<T*>(buffer.bytes().data()), static_cast<std::size_t>(desc.total_bytes) / sizeof(T)};
    }
    template <class T>
    [[nodiscard]] std::span<const T> as() const {
        return {reinterpret_cast<const T*>(buffer.bytes().data()),
                static_cast<std::size_t>(desc.total_bytes) / sizeof(T)};
    }
};

/// The tensor's strides, signed, as StridedRuns takes them.
[[nodiscard]] Strides signed_strides(const TensorDesc& desc);

/// A tensor of 4-bit elements as a packed one of INT8 or UINT8.
[[nodiscard]] Tensor widened_copy(const Tensor& tensor);

/// The tensor's elements in row-major order, without gaps; those that a stride of 0 repeats as often as they count.
[[nodiscard]] Tensor packed_copy(const Tensor& tensor);

}  // namespace dmlconform::core
