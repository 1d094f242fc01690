// Descriptors for dispatches, from heaps that many executables share. Only for Windows.
//
// Creating a heap is expensive if D3D12 runs on Vulkan: every heap, however small, takes memory for the maximum number
// of descriptors, half a gigabyte on Mesa's lavapipe. A graph that runs node by node has many executables at the same
// time.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/directml/directml_api.h"

namespace dmlconform::directml {

/// A shader-visible heap with its free ranges of descriptors: the number of descriptors by first index.
struct SharedHeap {
    ComPtr<ID3D12DescriptorHeap> heap;
    UINT descriptor_bytes = 0;
    std::map<UINT, UINT> free;
};

/// Descriptors that are borrowed from a DescriptorHeaps, which must outlive them. When they are returned, the device
/// must no longer use them.
class LentDescriptors {
public:
    LentDescriptors() = default;
    LentDescriptors(LentDescriptors&& other) noexcept { swap(other); }
    LentDescriptors& operator=(LentDescriptors&& other) noexcept {
        swap(other);
        return *this;
    }
    ~LentDescriptors();

    /// The heap that they are in.
    [[nodiscard]] ID3D12DescriptorHeap* heap() const { return shared_->heap.Get(); }
    /// The first one.
    [[nodiscard]] D3D12_CPU_DESCRIPTOR_HANDLE cpu_handle() const;
    [[nodiscard]] D3D12_GPU_DESCRIPTOR_HANDLE gpu_handle() const;

private:
    friend class DescriptorHeaps;
    void swap(LentDescriptors& other) noexcept {
        std::swap(shared_, other.shared_);
        std::swap(first_, other.first_);
        std::swap(count_, other.count_);
    }

    SharedHeap* shared_ = nullptr;
    UINT first_ = 0;
    UINT count_ = 0;
};

class DescriptorHeaps {
public:
    explicit DescriptorHeaps(ComPtr<ID3D12Device> device) : device_(std::move(device)) {}
    DescriptorHeaps(const DescriptorHeaps&) = delete;
    DescriptorHeaps& operator=(const DescriptorHeaps&) = delete;
    ~DescriptorHeaps() = default;

    [[nodiscard]] core::Result<LentDescriptors> acquire(UINT descriptors);

private:
    /// Lends nothing if there is no room.
    [[nodiscard]] static LentDescriptors lend(SharedHeap& from, UINT descriptors);

    ComPtr<ID3D12Device> device_;
    /// Pointers, because loans refer to the heaps.
    std::vector<std::unique_ptr<SharedHeap>> heaps_;
};

}  // namespace dmlconform::directml
