// The differences between Windows and vkd3d: listing adapters, creating devices, compiling HLSL, waiting.
//
// platform_windows.cpp and platform_vkd3d.cpp implement it. All other code is the same on both.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/device/d3d12_headers.h"

namespace dmlconform::d3d12 {

/// The current adapters of the system, and devices on them.
class AdapterList {
public:
    /// At least one adapter, or why there is none.
    [[nodiscard]] static core::Result<AdapterList> open();

    [[nodiscard]] std::span<const AdapterInfo> adapters() const;
    [[nodiscard]] core::Result<ComPtr<ID3D12Device>> create_device(std::size_t index) const;

private:
    struct Implementation;
    explicit AdapterList(std::shared_ptr<const Implementation> implementation);
    std::shared_ptr<const Implementation> implementation_;
};

/// Names and versions of the libraries behind the engine. The list contains "vkd3d" if that implements Direct3D 12.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> library_versions();

[[nodiscard]] HRESULT serialize_root_signature(const D3D12_ROOT_SIGNATURE_DESC& desc, ID3DBlob** blob,
                                               ID3DBlob** messages);

/// True if parts of buffers must be bound as views in a table. vkd3d binds a root descriptor up to the end of its
/// buffer, which may exceed what shaders can address. On Windows root descriptors are sufficient, and views in a table
/// would need the shader's element size.
#if defined(_WIN32)
inline constexpr bool views_have_sizes = false;
#else
inline constexpr bool views_have_sizes = true;
#endif

/// The addresses of a heap's first descriptor, for the CPU and for commands.
struct FirstDescriptor {
    D3D12_CPU_DESCRIPTOR_HANDLE processor{};
    D3D12_GPU_DESCRIPTOR_HANDLE commands{};
};
[[nodiscard]] FirstDescriptor first_descriptor(ID3D12DescriptorHeap& heap);

/// Waits for a fence with a time limit.
class FenceEvent {
public:
    FenceEvent();
    FenceEvent(const FenceEvent&) = delete;
    FenceEvent& operator=(const FenceEvent&) = delete;
    ~FenceEvent();

    /// S_OK when the fence has reached `value`, S_FALSE on a timeout.
    [[nodiscard]] HRESULT wait(ID3D12Fence& fence, UINT64 value, std::chrono::milliseconds limit);

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// The D3D12 library's last message, for error messages; empty if there is none.
[[nodiscard]] std::string recent_diagnostics();

}  // namespace dmlconform::d3d12
