// Device memory for tensors. Buffers are reused, because creating one takes longer than executing a small operator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/core/error.h"
#include "engine/d3d12/device/d3d12_headers.h"

namespace dmlconform::d3d12 {

/// The kind of memory, and who accesses it.
enum class Heap : std::uint8_t {
    device,    // shaders and copies
    upload,    // written by the processor, read by shaders and copies
    readback,  // written by copies, read by the processor
};

/// Creates a buffer outside of any pool.
[[nodiscard]] HRESULT create_buffer(ID3D12Device& device, Heap heap, std::uint64_t bytes,
                                    ComPtr<ID3D12Resource>& buffer);

class BufferPool;

/// A buffer that is borrowed from a pool, which must outlive it. When it is returned, the device must no longer use it.
/// Its contents are undefined.
class PooledBuffer {
public:
    PooledBuffer() = default;
    PooledBuffer(PooledBuffer&& other) noexcept { swap(other); }
    PooledBuffer& operator=(PooledBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~PooledBuffer();

    [[nodiscard]] ID3D12Resource* resource() const { return resource_.Get(); }
    /// Null for a device buffer.
    [[nodiscard]] std::byte* mapped() const { return mapped_; }
    [[nodiscard]] D3D12_GPU_VIRTUAL_ADDRESS address() const { return address_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    explicit operator bool() const { return resource_ != nullptr; }

private:
    friend class BufferPool;
    void swap(PooledBuffer& other) noexcept;

    BufferPool* pool_ = nullptr;
    ComPtr<ID3D12Resource> resource_;
    std::byte* mapped_ = nullptr;
    D3D12_GPU_VIRTUAL_ADDRESS address_ = 0;
    std::uint64_t size_ = 0;
    Heap heap_ = Heap::device;
};

class BufferPool {
public:
    explicit BufferPool(ComPtr<ID3D12Device> device);
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;
    ~BufferPool();

    /// Borrows a buffer of at least `bytes`, aligned to 64 KiB.
    [[nodiscard]] core::Result<PooledBuffer> acquire(Heap heap, std::uint64_t bytes);

private:
    friend class PooledBuffer;
    void take_back(PooledBuffer buffer);

    ComPtr<ID3D12Device> device_;
    /// Unused buffers by heap and size.
    std::array<std::map<std::uint64_t, std::vector<PooledBuffer>>, 3> free_;
    std::uint64_t free_bytes_ = 0;
};

}  // namespace dmlconform::d3d12
