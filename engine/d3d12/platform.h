// What differs between Windows and vkd3d: finding adapters, making devices, compiling HLSL, waiting.
//
// platform_windows.cpp and platform_vkd3d.cpp implement it; everything else is the same source on both.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/d3d12/adapters.h"
#include "engine/d3d12/d3d12_headers.h"

namespace dmlconform::d3d12 {

/// The system's adapters as they are now, and devices on them.
class AdapterList {
public:
    /// At least one adapter, or the reason why there is none.
    [[nodiscard]] static core::Result<AdapterList> open();

    [[nodiscard]] std::span<const AdapterInfo> adapters() const;
    [[nodiscard]] core::Result<ComPtr<ID3D12Device>> create_device(std::size_t index) const;

private:
    struct Implementation;
    explicit AdapterList(std::shared_ptr<const Implementation> implementation);
    std::shared_ptr<const Implementation> implementation_;
};

/// Names and versions of the libraries behind the engine. "vkd3d" is among them where Direct3D 12 is vkd3d's.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> library_versions();

[[nodiscard]] HRESULT serialize_root_signature(const D3D12_ROOT_SIGNATURE_DESC& desc, ID3DBlob** blob,
                                               ID3DBlob** messages);

/// Whether root descriptors do for parts of buffers. vkd3d takes a buffer up to its end for them, even if that is more
/// than shaders address, and it does not mind which size of elements views in tables are given. Windows does.
#if defined(_WIN32)
inline constexpr bool views_have_sizes = false;
#else
inline constexpr bool views_have_sizes = true;
#endif

/// Where a heap's descriptors begin, for the processor that writes them and for commands.
struct FirstDescriptor {
    D3D12_CPU_DESCRIPTOR_HANDLE processor{};
    D3D12_GPU_DESCRIPTOR_HANDLE commands{};
};
[[nodiscard]] FirstDescriptor first_descriptor(ID3D12DescriptorHeap& heap);

/// Waits for a fence with a limit.
class FenceEvent {
public:
    FenceEvent();
    FenceEvent(const FenceEvent&) = delete;
    FenceEvent& operator=(const FenceEvent&) = delete;
    ~FenceEvent();

    /// S_OK when the fence reached `value`, S_FALSE when that took too long.
    [[nodiscard]] HRESULT wait(ID3D12Fence& fence, UINT64 value, std::chrono::milliseconds limit);

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// What the D3D12 library last had to say, for error messages; empty where it says nothing.
[[nodiscard]] std::string recent_diagnostics();

}  // namespace dmlconform::d3d12
