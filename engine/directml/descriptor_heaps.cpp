// Creates descriptor heaps and lends ranges of them.
#if defined(_WIN32)

#include "engine/directml/descriptor_heaps.h"

#include <algorithm>
#include <iterator>

#include "engine/d3d12/device/d3d12_error.h"

namespace dmlconform::directml {
namespace {

/// An operator needs a few dozen at most, so one heap is sufficient for a graph of hundreds of nodes.
constexpr UINT usual_size = 16384;

}  // namespace

LentDescriptors::~LentDescriptors() {
    if (shared_ == nullptr) {
        return;
    }
    auto& free = shared_->free;
    auto range = free.emplace(first_, count_).first;
    const auto merge_with_next = [&free](auto at) {
        const auto next = std::next(at);
        if (next != free.end() && at->first + at->second == next->first) {
            at->second += next->second;
            free.erase(next);
        }
    };
    merge_with_next(range);
    if (range != free.begin()) {
        merge_with_next(std::prev(range));
    }
}

D3D12_CPU_DESCRIPTOR_HANDLE LentDescriptors::cpu_handle() const {
    D3D12_CPU_DESCRIPTOR_HANDLE handle = shared_->heap->GetCPUDescriptorHandleForHeapStart();
    handle.ptr += SIZE_T{first_} * shared_->descriptor_bytes;
    return handle;
}

D3D12_GPU_DESCRIPTOR_HANDLE LentDescriptors::gpu_handle() const {
    D3D12_GPU_DESCRIPTOR_HANDLE handle = shared_->heap->GetGPUDescriptorHandleForHeapStart();
    handle.ptr += UINT64{first_} * shared_->descriptor_bytes;
    return handle;
}

LentDescriptors DescriptorHeaps::lend(SharedHeap& from, UINT descriptors) {
    LentDescriptors lent;
    const auto range =
        std::find_if(from.free.begin(), from.free.end(), [&](const auto& free) { return free.second >= descriptors; });
    if (range == from.free.end()) {
        return lent;
    }
    lent.shared_ = &from;
    lent.first_ = range->first;
    lent.count_ = descriptors;
    const UINT left = range->second - descriptors;
    from.free.erase(range);
    if (left != 0) {
        from.free.emplace(lent.first_ + descriptors, left);
    }
    return lent;
}

core::Result<LentDescriptors> DescriptorHeaps::acquire(UINT descriptors) {
    // An operator that needs no descriptor gets one anyway, and so a heap.
    descriptors = std::max(descriptors, UINT{1});
    for (const auto& heap : heaps_) {
        if (LentDescriptors lent = lend(*heap, descriptors); lent.shared_ != nullptr) {
            return lent;
        }
    }
    auto made = std::make_unique<SharedHeap>();
    D3D12_DESCRIPTOR_HEAP_DESC desc{};
    desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    desc.NumDescriptors = std::max(descriptors, usual_size);
    desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    const HRESULT code = device_->CreateDescriptorHeap(&desc, IID_PPV_ARGS(made->heap.GetAddressOf()));
    if (FAILED(code)) {
        return d3d12::d3d12_error("no descriptor heap", code);
    }
    made->descriptor_bytes = device_->GetDescriptorHandleIncrementSize(desc.Type);
    made->free.emplace(0, desc.NumDescriptors);
    heaps_.push_back(std::move(made));
    return lend(*heaps_.back(), descriptors);
}

}  // namespace dmlconform::directml

#endif
