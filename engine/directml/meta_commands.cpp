// Replaces a failing method of a COM object.
#if defined(_WIN32)

#include "engine/directml/meta_commands.h"

#include <cstddef>

namespace dmlconform::directml {
namespace {

/// The identifier of ID3D12Device5, which not every d3d12.h declares.
constexpr IID device5_id = {0x8b4f173b, 0x2fea, 0x4b80, {0x8f, 0x58, 0x43, 0x07, 0x19, 0x1a, 0xb9, 0x5d}};

/// ID3D12Device5::EnumerateMetaCommands. Its output parameter is never used here.
using EnumerateMetaCommands = HRESULT(STDMETHODCALLTYPE*)(IUnknown* device, UINT* count, void* descriptions);

/// Index in the method table: after the 57 methods of ID3D12Device4 and its bases, CreateLifetimeTracker, and
/// RemoveDevice.
constexpr std::size_t enumerate_meta_commands = 59;

HRESULT STDMETHODCALLTYPE has_none(IUnknown* /*device*/, UINT* count, void* /*descriptions*/) {
    if (count == nullptr) {
        return E_INVALIDARG;
    }
    *count = 0;
    return S_OK;
}

}  // namespace

void answer_without_meta_commands(ID3D12Device& device) {
    d3d12::ComPtr<IUnknown> device5;
    if (FAILED(device.QueryInterface(device5_id, reinterpret_cast<void**>(device5.GetAddressOf())))) {
        return;
    }
    // A COM object begins with a pointer to its method table.
    void** const method = *reinterpret_cast<void***>(device5.Get()) + enumerate_meta_commands;
    UINT count = 0;
    if (reinterpret_cast<EnumerateMetaCommands>(*method)(device5.Get(), &count, nullptr) != E_NOTIMPL) {
        return;
    }
    // The table is changed in place instead of copied, because its length is unknown.
    DWORD access = 0;
    if (VirtualProtect(method, sizeof *method, PAGE_READWRITE, &access) != 0) {
        *method = reinterpret_cast<void*>(&has_none);
        VirtualProtect(method, sizeof *method, access, &access);
    }
}

}  // namespace dmlconform::directml

#endif
