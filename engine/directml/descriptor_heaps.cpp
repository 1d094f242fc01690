// Creation and keeping of descriptor heaps.
#if defined(_WIN32)

#include "engine/directml/descriptor_heaps.h"

#include <algorithm>
#include <bit>

#include "engine/d3d12/d3d12_error.h"

namespace dmlconform::directml {
namespace {

/// More than most operators need, so that one heap does for nearly all of them.
constexpr UINT smallest = 256;

}  // namespace

LentHeap::~LentHeap() {
    if (owner_ != nullptr && heap_ != nullptr) {
        DescriptorHeaps& owner = *std::exchange(owner_, nullptr);
        owner.free_.push_back(std::move(*this));
    }
}

core::Result<LentHeap> DescriptorHeaps::acquire(UINT descriptors) {
    LentHeap heap;
    const auto found =
        std::find_if(free_.begin(), free_.end(), [&](const LentHeap& kept) { return kept.size_ >= descriptors; });
    if (found != free_.end()) {
        heap = std::move(*found);
        free_.erase(found);
    } else {
        heap.size_ = std::bit_ceil(std::max(descriptors, smallest));
        D3D12_DESCRIPTOR_HEAP_DESC desc{};
        desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
        desc.NumDescriptors = heap.size_;
        desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
        const HRESULT code = device_->CreateDescriptorHeap(&desc, IID_PPV_ARGS(heap.heap_.GetAddressOf()));
        if (FAILED(code)) {
            return d3d12::d3d12_error("no descriptor heap", code);
        }
    }
    heap.owner_ = this;
    return heap;
}

}  // namespace dmlconform::directml

#endif
