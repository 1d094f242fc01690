// Creates buffers and keeps unused ones.
#include "engine/d3d12/device/buffer_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/d3d12/device/d3d12_error.h"

namespace dmlconform::d3d12 {
namespace {

/// D3D12 aligns buffers to this size.
constexpr std::uint64_t page = std::uint64_t{64} << 10;

/// Smaller buffers would save nothing. It is not a power of two: see size_class.
constexpr std::uint64_t smallest = page - 256;

/// Unused memory up to this size is kept instead of returned to the driver.
constexpr std::uint64_t most_free_bytes = std::uint64_t{512} << 20;

/// Rounds to quarters of an octave: few enough sizes that buffers are reused, with at most a quarter wasted. Sizes too
/// large for the pool are not rounded, because some drivers cannot create buffers of more than 4 GiB.
///
/// No size of the pool is a power of two, because Mesa's lavapipe compiles a shader again for each combination of
/// buffers whose sizes are powers of two or not.
std::uint64_t size_class(std::uint64_t bytes) {
    if (bytes <= smallest) {
        return smallest;
    }
    if (bytes > most_free_bytes) {
        return (bytes + page - 1) / page * page;
    }
    const std::uint64_t quarter = std::max(std::bit_floor(bytes - 1) / 4, page);
    std::uint64_t size = (bytes + quarter - 1) / quarter * quarter;
    while (std::has_single_bit(size)) {
        size += page;
    }
    return size;
}

D3D12_HEAP_TYPE heap_type(Heap heap) {
    switch (heap) {
        case Heap::upload:
            return D3D12_HEAP_TYPE_UPLOAD;
        case Heap::readback:
            return D3D12_HEAP_TYPE_READBACK;
        case Heap::device:
        default:
            return D3D12_HEAP_TYPE_DEFAULT;
    }
}

/// Upload and readback buffers stay in the only state that D3D12 allows. Device buffers return to COMMON after every
/// list, and are promoted when they are used.
D3D12_RESOURCE_STATES initial_state(Heap heap) {
    switch (heap) {
        case Heap::upload:
            return D3D12_RESOURCE_STATE_GENERIC_READ;
        case Heap::readback:
            return D3D12_RESOURCE_STATE_COPY_DEST;
        case Heap::device:
        default:
            return D3D12_RESOURCE_STATE_COMMON;
    }
}

}  // namespace

HRESULT create_buffer(ID3D12Device& device, Heap heap, std::uint64_t bytes, ComPtr<ID3D12Resource>& buffer) {
    D3D12_HEAP_PROPERTIES properties{};
    properties.Type = heap_type(heap);
    D3D12_RESOURCE_DESC desc{};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = bytes;
    desc.Height = 1;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 1;
    desc.SampleDesc.Count = 1;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    desc.Flags = heap == Heap::device ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS : D3D12_RESOURCE_FLAG_NONE;
    return device.CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, initial_state(heap), nullptr,
                                          IID_PPV_ARGS(buffer.ReleaseAndGetAddressOf()));
}

PooledBuffer::~PooledBuffer() {
    if (pool_ != nullptr) {
        std::exchange(pool_, nullptr)->take_back(std::move(*this));
    }
}

void PooledBuffer::swap(PooledBuffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(resource_, other.resource_);
    std::swap(mapped_, other.mapped_);
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
    std::swap(heap_, other.heap_);
}

BufferPool::BufferPool(ComPtr<ID3D12Device> device) : device_(std::move(device)) {}

BufferPool::~BufferPool() = default;

core::Result<PooledBuffer> BufferPool::acquire(Heap heap, std::uint64_t bytes) {
    const std::uint64_t size = size_class(bytes);
    auto& kept = free_[static_cast<std::size_t>(heap)][size];
    PooledBuffer buffer;
    if (!kept.empty()) {
        buffer = std::move(kept.back());
        kept.pop_back();
        free_bytes_ -= size;
    } else {
        HRESULT code = create_buffer(*device_.Get(), heap, size, buffer.resource_);
        if (code == E_OUTOFMEMORY && free_bytes_ > 0) {
            // Memory that is kept for reuse may be what is missing.
            free_ = {};
            free_bytes_ = 0;
            code = create_buffer(*device_.Get(), heap, size, buffer.resource_);
        }
        void* mapped = nullptr;
        if (SUCCEEDED(code) && heap != Heap::device) {
            code = buffer.resource_->Map(0, nullptr, &mapped);
        }
        if (FAILED(code)) {
            return d3d12_error(fmt::format("no buffer of {} bytes", size), code);
        }
        buffer.mapped_ = static_cast<std::byte*>(mapped);
        buffer.address_ = buffer.resource_->GetGPUVirtualAddress();
        buffer.size_ = size;
        buffer.heap_ = heap;
    }
    buffer.pool_ = this;
    return buffer;
}

void BufferPool::take_back(PooledBuffer buffer) {
    if (free_bytes_ + buffer.size_ > most_free_bytes) {
        return;  // releases the buffer
    }
    free_bytes_ += buffer.size_;
    free_[static_cast<std::size_t>(buffer.heap_)][buffer.size_].push_back(std::move(buffer));
}

}  // namespace dmlconform::d3d12
