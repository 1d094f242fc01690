// DirectML's interfaces, as in DirectML.h. Only for Windows.
//
// They are declared here because no package contains that header. Interfaces are declared up to the last method that is
// called; uncalled methods are placeholders that keep the order.
#pragma once

#include "engine/d3d12/device/d3d12_headers.h"
#include "engine/directml/c_structs.h"

namespace dmlconform::directml {

using d3d12::ComPtr;

/// DML_FEATURE, DML_FEATURE_QUERY_FEATURE_LEVELS and DML_FEATURE_DATA_FEATURE_LEVELS.
inline constexpr UINT feature_feature_levels = 1;
struct FeatureLevelsQuery {
    UINT count = 0;
    const UINT* levels = nullptr;
};
struct FeatureLevelsData {
    UINT highest = 0;
};

/// DML_BINDING_PROPERTIES.
struct BindingProperties {
    UINT descriptor_count = 0;
    UINT64 temporary_bytes = 0;
    UINT64 persistent_bytes = 0;
};

/// DML_BUFFER_BINDING and DML_BUFFER_ARRAY_BINDING.
struct BufferBinding {
    ID3D12Resource* buffer = nullptr;
    UINT64 offset = 0;
    UINT64 bytes = 0;
};
struct BufferArrayBinding {
    UINT count = 0;
    const BufferBinding* bindings = nullptr;
};

/// DML_BINDING_DESC, and the values of DML_BINDING_TYPE.
struct BindingDesc {
    UINT type = 0;
    const void* desc = nullptr;
};
inline constexpr UINT binding_none = 0;
inline constexpr UINT binding_buffer = 1;
inline constexpr UINT binding_buffer_array = 2;

class IDMLDispatchable;

/// DML_BINDING_TABLE_DESC.
struct BindingTableDesc {
    IDMLDispatchable* dispatchable = nullptr;
    D3D12_CPU_DESCRIPTOR_HANDLE cpu_handle{};
    D3D12_GPU_DESCRIPTOR_HANDLE gpu_handle{};
    UINT descriptor_count = 0;
};

class IDMLObject : public IUnknown {
public:
    virtual HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* bytes, void* data) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT bytes, const void* data) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) = 0;
};

class IDMLDeviceChild : public IDMLObject {
public:
    virtual HRESULT STDMETHODCALLTYPE GetDevice(REFIID iid, void** device) = 0;
};

class IDMLPageable : public IDMLDeviceChild {};

class IDMLOperator : public IDMLDeviceChild {};

class IDMLDispatchable : public IDMLPageable {
public:
    /// The header's method returns the structure by value, which has this ABI on Windows.
    virtual BindingProperties* STDMETHODCALLTYPE GetBindingProperties(BindingProperties* result) = 0;
};

class IDMLCompiledOperator : public IDMLDispatchable {};

class IDMLOperatorInitializer : public IDMLDispatchable {
public:
    virtual HRESULT STDMETHODCALLTYPE Reset(UINT count, IDMLCompiledOperator* const* operators) = 0;
};

class IDMLBindingTable : public IDMLDeviceChild {
public:
    virtual void STDMETHODCALLTYPE BindInputs(UINT count, const BindingDesc* bindings) = 0;
    virtual void STDMETHODCALLTYPE BindOutputs(UINT count, const BindingDesc* bindings) = 0;
    virtual void STDMETHODCALLTYPE BindTemporaryResource(const BindingDesc* binding) = 0;
    virtual void STDMETHODCALLTYPE BindPersistentResource(const BindingDesc* binding) = 0;
    virtual HRESULT STDMETHODCALLTYPE Reset(const BindingTableDesc* desc) = 0;
};

class IDMLCommandRecorder : public IDMLDeviceChild {
public:
    virtual void STDMETHODCALLTYPE RecordDispatch(ID3D12CommandList* list, IDMLDispatchable* dispatchable,
                                                  IDMLBindingTable* bindings) = 0;
};

class IDMLDevice : public IDMLObject {
public:
    virtual HRESULT STDMETHODCALLTYPE CheckFeatureSupport(UINT feature, UINT query_bytes, const void* query,
                                                          UINT data_bytes, void* data) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateOperator(const TypedDesc* desc, REFIID iid, void** result) = 0;
    virtual HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator* operation, UINT execution_flags, REFIID iid,
                                                      void** result) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT count, IDMLCompiledOperator* const* operators,
                                                                REFIID iid, void** result) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID iid, void** result) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateBindingTable(const BindingTableDesc* desc, REFIID iid, void** result) = 0;
    virtual HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* objects) = 0;
    virtual HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* objects) = 0;
    virtual HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() = 0;
    virtual HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID iid, void** device) = 0;
};

class IDMLDevice1 : public IDMLDevice {
public:
    virtual HRESULT STDMETHODCALLTYPE CompileGraph(const GraphDesc* desc, UINT execution_flags, REFIID iid,
                                                   void** result) = 0;
};

/// The identifiers of the interfaces.
template <class Interface>
inline constexpr IID iid_of{};
template <>
inline constexpr IID iid_of<IDMLDevice>{0x6dbd6437, 0x96fd, 0x423f, {0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f}};
template <>
inline constexpr IID iid_of<IDMLDevice1>{0xa0884f9a, 0xd2be, 0x4355, {0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2}};
template <>
inline constexpr IID iid_of<IDMLOperator>{0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};
template <>
inline constexpr IID iid_of<IDMLCompiledOperator>{
    0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};
template <>
inline constexpr IID iid_of<IDMLOperatorInitializer>{
    0x427c1113, 0x435c, 0x469c, {0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13}};
template <>
inline constexpr IID iid_of<IDMLBindingTable>{
    0x29c687dc, 0xde74, 0x4e3b, {0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc}};
template <>
inline constexpr IID iid_of<IDMLCommandRecorder>{
    0xe6857a76, 0x2e3e, 0x4fdd, {0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53}};

/// IID_PPV_ARGS for these interfaces: calls make(iid, address) with those of `result`.
template <class Interface, class Make>
HRESULT create(ComPtr<Interface>& result, Make&& make) {
    return make(iid_of<Interface>, reinterpret_cast<void**>(result.ReleaseAndGetAddressOf()));
}

}  // namespace dmlconform::directml
