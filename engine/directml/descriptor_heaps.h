// Descriptor heaps that are used again. Only for Windows.
//
// Making one is dear where D3D12 runs on Vulkan: every heap, however small, takes room for the most descriptors there
// can be, half a gigabyte of it on Mesa's lavapipe.
#pragma once

#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/directml/directml_api.h"

namespace dmlconform::directml {

class DescriptorHeaps;

/// A shader-visible heap on loan from a DescriptorHeaps, which must outlive it. The device must not use it any more
/// when it is given back.
class LentHeap {
public:
    LentHeap() = default;
    LentHeap(LentHeap&& other) noexcept { swap(other); }
    LentHeap& operator=(LentHeap&& other) noexcept {
        swap(other);
        return *this;
    }
    ~LentHeap();

    [[nodiscard]] ID3D12DescriptorHeap* get() const { return heap_.Get(); }

private:
    friend class DescriptorHeaps;
    void swap(LentHeap& other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(heap_, other.heap_);
        std::swap(size_, other.size_);
    }

    DescriptorHeaps* owner_ = nullptr;
    ComPtr<ID3D12DescriptorHeap> heap_;
    UINT size_ = 0;
};

class DescriptorHeaps {
public:
    explicit DescriptorHeaps(ComPtr<ID3D12Device> device) : device_(std::move(device)) {}
    DescriptorHeaps(const DescriptorHeaps&) = delete;
    DescriptorHeaps& operator=(const DescriptorHeaps&) = delete;
    ~DescriptorHeaps() = default;

    /// A heap of at least so many descriptors.
    [[nodiscard]] core::Result<LentHeap> acquire(UINT descriptors);

private:
    friend class LentHeap;

    ComPtr<ID3D12Device> device_;
    std::vector<LentHeap> free_;
};

}  // namespace dmlconform::directml
