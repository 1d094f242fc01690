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

/// Uninitialised bytes, aligned to 64 bytes. Move-only.
class Buffer {
public:
    Buffer() = default;
    /// Throws std::bad_alloc if the memory cannot be allocated.
    explicit Buffer(std::uint64_t size);
    /// Bytes that lie in a temporary file, so that they need not stay in memory. Throws std::bad_alloc or
    /// std::runtime_error.
    [[nodiscard]] static Buffer in_file(std::uint64_t size);

    [[nodiscard]] std::span<std::byte> bytes() { return {data_.get(), size_}; }
    [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

    [[nodiscard]] bool is_in_file() const { return data_.get_deleter().mapped != 0; }
    /// Takes the bytes out of memory until they are used again, if they lie in a file.
    void leave_memory() const;

private:
    static constexpr std::align_val_t alignment{64};
    struct Free {
        Free() {}  // NOLINT(modernize-use-equals-default)
        explicit Free(std::size_t bytes) : mapped(bytes) {}
        void operator()(std::byte* data) const;

        /// The size of a mapped file; 0 for memory.
        std::size_t mapped = 0;
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

/// A tensor with uninitialised bytes in a temporary file.
[[nodiscard]] Tensor tensor_in_file(TensorDesc layout);

/// Moves the bytes to a temporary file, and out of memory, unless the tensor is too small to matter.
void move_to_file(Tensor& tensor);

/// The tensor's strides as signed numbers, for StridedRuns.
[[nodiscard]] Strides signed_strides(const TensorDesc& desc);

/// Copies a tensor of 4-bit elements to a packed tensor of INT8 or UINT8.
[[nodiscard]] Tensor widened_copy(const Tensor& tensor);

/// Copies the elements in row-major order, without gaps. Elements that a stride of 0 repeats are copied repeatedly.
[[nodiscard]] Tensor packed_copy(const Tensor& tensor);

}  // namespace dmlconform::core
