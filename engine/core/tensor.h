// A tensor in host memory: its descriptor and its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "engine/core/strided.h"
#include "engine/core/tensor_desc.h"

namespace dmlconform::core {

/// Uninitialised bytes, aligned to 64 bytes. Move-only. Throws std::bad_alloc if the memory cannot be allocated.
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
    /// Allocates desc.total_bytes of uninitialised memory.
    explicit Tensor(TensorDesc layout) : desc(std::move(layout)), buffer(desc.total_bytes) {}

    /// The whole buffer as elements of T, including gaps between addressed elements.
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

/// The tensor's strides as signed numbers, for StridedRuns.
[[nodiscard]] Strides signed_strides(const TensorDesc& desc);

/// Copies a tensor of 4-bit elements to a packed tensor of INT8 or UINT8.
[[nodiscard]] Tensor widened_copy(const Tensor& tensor);

/// Copies the elements in row-major order, without gaps. Elements that a stride of 0 repeats are copied repeatedly.
[[nodiscard]] Tensor packed_copy(const Tensor& tensor);

}  // namespace dmlconform::core
