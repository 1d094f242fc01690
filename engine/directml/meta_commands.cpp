// Replaces a method of a COM object that fails.
#if defined(_WIN32)

#include "engine/directml/meta_commands.h"

#include "engine/d3d12/platform.h"

namespace dmlconform::directml {
namespace {

/// The place of ID3D12Device5::EnumerateMetaCommands in the table of methods: behind the 57 of ID3D12Device4 and what
/// it inherits from, CreateLifetimeTracker and RemoveDevice.
constexpr std::size_t enumerate_meta_commands = 59;

HRESULT STDMETHODCALLTYPE has_none(ID3D12Device5* /*device*/, UINT* count, D3D12_META_COMMAND_DESC* /*descriptions*/) {
    if (count == nullptr) {
        return E_INVALIDARG;
    }
    *count = 0;
    return S_OK;
}

}  // namespace

void answer_without_meta_commands(ID3D12Device& device) {
    ComPtr<ID3D12Device5> device5;
    UINT count = 0;
    if (FAILED(device.QueryInterface(IID_PPV_ARGS(&device5))) ||
        device5->EnumerateMetaCommands(&count, nullptr) != E_NOTIMPL) {
        return;
    }
    // The table itself is changed and not copied, since nothing says how many methods it has.
    void** const method = *reinterpret_cast<void***>(device5.Get()) + enumerate_meta_commands;
    DWORD access = 0;
    if (VirtualProtect(method, sizeof *method, PAGE_READWRITE, &access) != 0) {
        *method = reinterpret_cast<void*>(&has_none);
        VirtualProtect(method, sizeof *method, access, &access);
    }
}

}  // namespace dmlconform::directml

#endif
