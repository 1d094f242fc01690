// A d3d12.dll for Windows programs under Wine that uses the native vkd3d instead of Wine's own, which does not support
// DXIL. It is compiled by Wine's winegcc (scripts/setup-directml) to native code that Wine loads as a DLL.
//
// The methods of vkd3d's COM objects have the calling convention of Windows on every system, so programs can use the
// objects directly. vkd3d's functions have the native calling convention.
#include <windows.h>
// windows.h must come first. vkd3d's headers need Direct3D's types. clang-format off
#include <d3d12.h>
#include <dxgi.h>
#define VKD3D_NO_WIN32_TYPES
#include <vkd3d.h>
#include <vkd3d_shader.h>
// clang-format on

#include <memory>
#include <optional>

#include "engine/directml/wine/d3d12/vulkan_devices.h"

namespace {

using dmlconform::directml::wine::find_device;

HRESULT signal_event(HANDLE event) {
    return SetEvent(event) != FALSE ? S_OK : E_FAIL;
}

struct ThreadStart {
    PFN_vkd3d_thread main;
    void* data;
};

DWORD WINAPI run_thread(void* argument) {
    const std::unique_ptr<ThreadStart> start(static_cast<ThreadStart*>(argument));
    start->main(start->data);
    return 0;
}

/// Creates a Windows thread, because threads that vkd3d creates itself could not signal an event.
void* create_thread(PFN_vkd3d_thread main, void* data) {
    auto start = std::make_unique<ThreadStart>(ThreadStart{main, data});
    const HANDLE thread = CreateThread(nullptr, 0, run_thread, start.get(), 0, nullptr);
    if (thread != nullptr) {
        static_cast<void>(start.release());  // now owned by the thread
    }
    return thread;
}

HRESULT join_thread(void* thread) {
    const bool ended = WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0;
    CloseHandle(thread);
    return ended ? S_OK : E_FAIL;
}

struct Instance {
    HRESULT code;
    vkd3d_instance* handle;
};

/// The instance that all devices share. It exists until the process ends.
const Instance& instance() {
    static const Instance only = [] {
        vkd3d_application_info application{};
        application.type = VKD3D_STRUCTURE_TYPE_APPLICATION_INFO;
        application.api_version = VKD3D_API_VERSION_1_17;  // otherwise vkd3d behaves like version 1.0
        vkd3d_instance_create_info info{};
        info.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        info.next = &application;
        info.pfn_signal_event = signal_event;
        info.pfn_create_thread = create_thread;
        info.pfn_join_thread = join_thread;
        info.wchar_size = sizeof(WCHAR);
        Instance made{};
        made.code = vkd3d_create_instance(&info, &made.handle);
        return made;
    }();
    return only;
}

/// The identifier of IDXGIAdapter. dxgi.h declares it, but it is defined in a library that is not needed otherwise.
constexpr IID adapter_id = {0x2411e7e1, 0x12ac, 0x4ccf, {0xbd, 0x14, 0x97, 0x98, 0xe8, 0x53, 0x4d, 0xc0}};

std::optional<DXGI_ADAPTER_DESC> describe(IUnknown* object) {
    IDXGIAdapter* adapter = nullptr;
    if (object == nullptr || FAILED(object->QueryInterface(adapter_id, reinterpret_cast<void**>(&adapter)))) {
        return std::nullopt;
    }
    DXGI_ADAPTER_DESC desc{};
    const HRESULT code = adapter->GetDesc(&desc);
    adapter->Release();
    return SUCCEEDED(code) ? std::optional(desc) : std::nullopt;
}

}  // namespace

extern "C" {

HRESULT WINAPI create_device(IUnknown* adapter, D3D_FEATURE_LEVEL minimum_level, REFIID iid, void** device) {
    if (FAILED(instance().code)) {
        return instance().code;
    }
    vkd3d_device_create_info info{};
    info.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.minimum_feature_level = minimum_level;
    info.instance = instance().handle;
    info.parent = adapter;
    if (const auto desc = describe(adapter)) {
        // There may be no match: with its OpenGL renderer, Wine invents adapters for drivers that it does not know.
        // Then vkd3d chooses.
        info.vk_physical_device =
            find_device(vkd3d_instance_get_vk_instance(instance().handle), desc->VendorId, desc->DeviceId);
        info.adapter_luid = desc->AdapterLuid;
    }
    return vkd3d_create_device(&info, iid, device);
}

HRESULT WINAPI serialize_root_signature(const D3D12_ROOT_SIGNATURE_DESC* desc, D3D_ROOT_SIGNATURE_VERSION version,
                                        ID3DBlob** blob, ID3DBlob** messages) {
    return vkd3d_serialize_root_signature(desc, version, blob, messages);
}

HRESULT WINAPI serialize_versioned_root_signature(const D3D12_VERSIONED_ROOT_SIGNATURE_DESC* desc, ID3DBlob** blob,
                                                  ID3DBlob** messages) {
    return vkd3d_serialize_versioned_root_signature(desc, blob, messages);
}

/// "vkd3d-shader 2.1 (…)": the version that the program reports.
const char* CDECL vkd3d_version() {
    return vkd3d_shader_get_version(nullptr, nullptr);
}

}  // extern "C"
