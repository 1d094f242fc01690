// D3D12 on Windows.
#if defined(_WIN32)

#include <dxgi1_6.h>
#include <fmt/format.h>

#include "engine/core/hresult.h"
#include "engine/d3d12/device/platform.h"
#include "engine/d3d12/device/shader_library.h"
#include "engine/d3d12/device/vkd3d_version.h"

namespace dmlconform::d3d12 {
namespace {

std::string utf8(const wchar_t* text) {
    const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
    std::string result(static_cast<std::size_t>(size > 0 ? size : 1), '\0');
    WideCharToMultiByte(CP_UTF8, 0, text, -1, result.data(), size, nullptr, nullptr);
    result.pop_back();  // the terminating zero
    return result;
}

/// The version of the user-mode driver: "31.0.15.3623".
std::string driver_version(IDXGIAdapter1& adapter) {
    LARGE_INTEGER version{};
    if (FAILED(adapter.CheckInterfaceSupport(__uuidof(IDXGIDevice), &version))) {
        return {};
    }
    const auto part = [&](int shift) { return (version.QuadPart >> shift) & 0xffff; };
    return fmt::format("{}.{}.{}.{}", part(48), part(32), part(16), part(0));
}

AdapterInfo describe(IDXGIAdapter1& adapter) {
    DXGI_ADAPTER_DESC1 desc{};
    adapter.GetDesc1(&desc);
    AdapterInfo info;
    info.name = utf8(desc.Description);
    // DXGI does not tell whether a GPU is discrete. A discrete one has more dedicated memory than this.
    constexpr SIZE_T most_integrated_memory = SIZE_T{1} << 30;
    info.type = (desc.Flags & DXGI_ADAPTER_FLAG_SOFTWARE) != 0       ? AdapterType::cpu
                : desc.DedicatedVideoMemory > most_integrated_memory ? AdapterType::discrete
                                                                     : AdapterType::integrated;
    info.driver = driver_version(adapter);
    // Shaders address buffers by 32-bit numbers of bytes.
    info.addressable = {std::uint64_t{1} << 32, 16};
    return info;
}

}  // namespace

struct AdapterList::Implementation {
    std::vector<ComPtr<IDXGIAdapter1>> handles;
    std::vector<AdapterInfo> adapters;
};

AdapterList::AdapterList(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

core::Result<AdapterList> AdapterList::open() {
    ComPtr<IDXGIFactory1> factory;
    if (const HRESULT code = CreateDXGIFactory1(IID_PPV_ARGS(factory.GetAddressOf())); FAILED(code)) {
        return core::fail(fmt::format("no DXGI factory: {}", to_string(static_cast<core::HResult>(code))));
    }
    auto implementation = std::make_shared<Implementation>();
    ComPtr<IDXGIAdapter1> adapter;
    for (UINT i = 0; SUCCEEDED(factory->EnumAdapters1(i, adapter.ReleaseAndGetAddressOf())); ++i) {
        // With a null device pointer, the call only checks whether a device could be created.
        if (SUCCEEDED(D3D12CreateDevice(adapter.Get(), D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), nullptr))) {
            implementation->adapters.push_back(describe(*adapter.Get()));
            implementation->handles.push_back(adapter);
        }
    }
    if (implementation->adapters.empty()) {
        return core::fail("no adapter with Direct3D 12 found");
    }
    return AdapterList(std::move(implementation));
}

std::span<const AdapterInfo> AdapterList::adapters() const {
    return implementation_->adapters;
}

core::Result<ComPtr<ID3D12Device>> AdapterList::create_device(std::size_t index) const {
    ComPtr<ID3D12Device> device;
    const HRESULT code = D3D12CreateDevice(implementation_->handles[index].Get(), D3D_FEATURE_LEVEL_11_0,
                                           IID_PPV_ARGS(device.GetAddressOf()));
    if (FAILED(code)) {
        return core::fail(fmt::format("no D3D12 device on {}: {}", implementation_->adapters[index].name,
                                      to_string(static_cast<core::HResult>(code))));
    }
    return device;
}

std::vector<std::pair<std::string, std::string>> library_versions() {
    std::vector<std::pair<std::string, std::string>> versions{{"shader compiler", std::string(shader_compiler)}};
    // Only the d3d12.dll that scripts/setup-directml builds (engine/directml/wine/d3d12) has this entry point.
    using GetVersion = const char*(__cdecl*)();
    HMODULE library = GetModuleHandleW(L"d3d12.dll");
    const auto get_version =
        library == nullptr
            ? nullptr
            : reinterpret_cast<GetVersion>(reinterpret_cast<void*>(GetProcAddress(library, "DmlconformVkd3dVersion")));
    if (get_version != nullptr) {
        versions.emplace_back("vkd3d", vkd3d_version(get_version()));
    }
    return versions;
}

HRESULT serialize_root_signature(const D3D12_ROOT_SIGNATURE_DESC& desc, ID3DBlob** blob, ID3DBlob** messages) {
    return D3D12SerializeRootSignature(&desc, D3D_ROOT_SIGNATURE_VERSION_1_0, blob, messages);
}

FirstDescriptor first_descriptor(ID3D12DescriptorHeap& heap) {
    return {heap.GetCPUDescriptorHandleForHeapStart(), heap.GetGPUDescriptorHandleForHeapStart()};
}

struct FenceEvent::Implementation {
    HANDLE handle = CreateEventW(nullptr, FALSE, FALSE, nullptr);

    Implementation() = default;
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;
    ~Implementation() { CloseHandle(handle); }
};

FenceEvent::FenceEvent() : implementation_(std::make_unique<Implementation>()) {}

FenceEvent::~FenceEvent() = default;

HRESULT FenceEvent::wait(ID3D12Fence& fence, UINT64 value, std::chrono::milliseconds limit) {
    if (const HRESULT code = fence.SetEventOnCompletion(value, implementation_->handle); FAILED(code)) {
        return code;
    }
    return WaitForSingleObject(implementation_->handle, static_cast<DWORD>(limit.count())) == WAIT_OBJECT_0 ? S_OK
                                                                                                            : S_FALSE;
}

std::string recent_diagnostics() {
    return {};
}

}  // namespace dmlconform::d3d12

#endif
