// A command list that keeps the commands that the engine records, and submits nothing.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/d3d12/device/d3d12_headers.h"
#include "engine/d3d12/device/pipeline_cache.h"

namespace dmlconform::tests {

/// A command that accesses memory or orders accesses.
struct RecordedCommand {
    enum class Kind : std::uint8_t { dispatch, copy, unordered_access_barrier, transition };
    Kind kind = Kind::dispatch;
    /// For a dispatch: the addresses of u0, u1, ….
    std::vector<D3D12_GPU_VIRTUAL_ADDRESS> buffers{};
    /// For a copy, the target. For a barrier, the resource; null means all resources.
    const ID3D12Resource* resource = nullptr;
    /// For a copy.
    const ID3D12Resource* source = nullptr;
    /// For a transition.
    D3D12_RESOURCE_STATES before = D3D12_RESOURCE_STATE_COMMON;
    D3D12_RESOURCE_STATES after = D3D12_RESOURCE_STATE_COMMON;
};

/// Owned by the test that creates it; reference counts are ignored.
class RecordingList final : public ID3D12GraphicsCommandList {
public:
    RecordingList() = default;
    virtual ~RecordingList() = default;

    std::vector<RecordedCommand> commands;

    void STDMETHODCALLTYPE Dispatch(UINT, UINT, UINT) override {
        RecordedCommand command;
        for (const auto& [slot, address] : bound_) {
            command.buffers.push_back(address);
        }
        bound_.clear();
        commands.push_back(command);
    }
    void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource* to, UINT64, ID3D12Resource* from, UINT64, UINT64) override {
        commands.push_back({.kind = RecordedCommand::Kind::copy, .resource = to, .source = from});
    }
    void STDMETHODCALLTYPE ResourceBarrier(UINT count, const D3D12_RESOURCE_BARRIER* barriers) override {
        for (UINT i = 0; i < count; ++i) {
            if (barriers[i].Type == D3D12_RESOURCE_BARRIER_TYPE_UAV) {
                commands.push_back(
                    {.kind = RecordedCommand::Kind::unordered_access_barrier, .resource = barriers[i].UAV.pResource});
            } else if (barriers[i].Type == D3D12_RESOURCE_BARRIER_TYPE_TRANSITION) {
                commands.push_back({.kind = RecordedCommand::Kind::transition,
                                    .resource = barriers[i].Transition.pResource,
                                    .before = barriers[i].Transition.StateBefore,
                                    .after = barriers[i].Transition.StateAfter});
            } else {
                unknown("an aliasing barrier");
            }
        }
    }
    void STDMETHODCALLTYPE SetComputeRootUnorderedAccessView(UINT parameter,
                                                             D3D12_GPU_VIRTUAL_ADDRESS address) override {
        bound_[parameter - d3d12::root_first_buffer] = address;
    }

    // Commands that neither order nor access memory.
    void STDMETHODCALLTYPE SetComputeRootSignature(ID3D12RootSignature*) override {}
    void STDMETHODCALLTYPE SetPipelineState(ID3D12PipelineState*) override {}
    void STDMETHODCALLTYPE SetComputeRoot32BitConstant(UINT, UINT, UINT) override {}
    void STDMETHODCALLTYPE SetComputeRoot32BitConstants(UINT, UINT, const void*, UINT) override {}
    void STDMETHODCALLTYPE SetComputeRootConstantBufferView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {}
    void STDMETHODCALLTYPE EndQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {}
    void STDMETHODCALLTYPE ResolveQueryData(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT, UINT, ID3D12Resource*,
                                            UINT64) override {}

    // A descriptor table contains the same buffers as the root parameters: see Dispatch::has_units.
    void STDMETHODCALLTYPE SetDescriptorHeaps(UINT, ID3D12DescriptorHeap* const*) override {}
    void STDMETHODCALLTYPE SetComputeRootDescriptorTable(UINT, D3D12_GPU_DESCRIPTOR_HANDLE) override {}

    // Commands that the engine does not record. If it starts to, this list and its readers must interpret them.
    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void**) override { return unknown("QueryInterface"); }
    ULONG STDMETHODCALLTYPE AddRef() override { return 1; }
    ULONG STDMETHODCALLTYPE Release() override { return 1; }
    HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return unknown("GetPrivateData"); }
    HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override { return unknown("SetPrivateData"); }
    HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override {
        return unknown("SetPrivateDataInterface");
    }
    HRESULT STDMETHODCALLTYPE SetName(LPCWSTR) override { return unknown("SetName"); }
    HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override { return unknown("GetDevice"); }
    D3D12_COMMAND_LIST_TYPE STDMETHODCALLTYPE GetType() override { return D3D12_COMMAND_LIST_TYPE_COMPUTE; }
    HRESULT STDMETHODCALLTYPE Close() override { return unknown("Close"); }
    HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override { return unknown("Reset"); }
    void STDMETHODCALLTYPE ClearState(ID3D12PipelineState*) override { unknown("ClearState"); }
    void STDMETHODCALLTYPE DrawInstanced(UINT, UINT, UINT, UINT) override { unknown("DrawInstanced"); }
    void STDMETHODCALLTYPE DrawIndexedInstanced(UINT, UINT, UINT, INT, UINT) override {
        unknown("DrawIndexedInstanced");
    }
    void STDMETHODCALLTYPE CopyTextureRegion(const D3D12_TEXTURE_COPY_LOCATION*, UINT, UINT, UINT,
                                             const D3D12_TEXTURE_COPY_LOCATION*, const D3D12_BOX*) override {
        unknown("CopyTextureRegion");
    }
    void STDMETHODCALLTYPE CopyResource(ID3D12Resource*, ID3D12Resource*) override { unknown("CopyResource"); }
    void STDMETHODCALLTYPE CopyTiles(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                                     const D3D12_TILE_REGION_SIZE*, ID3D12Resource*, UINT64,
                                     D3D12_TILE_COPY_FLAGS) override {
        unknown("CopyTiles");
    }
    void STDMETHODCALLTYPE ResolveSubresource(ID3D12Resource*, UINT, ID3D12Resource*, UINT, DXGI_FORMAT) override {
        unknown("ResolveSubresource");
    }
    void STDMETHODCALLTYPE IASetPrimitiveTopology(D3D12_PRIMITIVE_TOPOLOGY) override {
        unknown("IASetPrimitiveTopology");
    }
    void STDMETHODCALLTYPE RSSetViewports(UINT, const D3D12_VIEWPORT*) override { unknown("RSSetViewports"); }
    void STDMETHODCALLTYPE RSSetScissorRects(UINT, const D3D12_RECT*) override { unknown("RSSetScissorRects"); }
    void STDMETHODCALLTYPE OMSetBlendFactor(const FLOAT[4]) override { unknown("OMSetBlendFactor"); }
    void STDMETHODCALLTYPE OMSetStencilRef(UINT) override { unknown("OMSetStencilRef"); }
    void STDMETHODCALLTYPE ExecuteBundle(ID3D12GraphicsCommandList*) override { unknown("ExecuteBundle"); }
    void STDMETHODCALLTYPE SetGraphicsRootSignature(ID3D12RootSignature*) override {
        unknown("SetGraphicsRootSignature");
    }
    void STDMETHODCALLTYPE SetGraphicsRootDescriptorTable(UINT, D3D12_GPU_DESCRIPTOR_HANDLE) override {
        unknown("SetGraphicsRootDescriptorTable");
    }
    void STDMETHODCALLTYPE SetGraphicsRoot32BitConstant(UINT, UINT, UINT) override {
        unknown("SetGraphicsRoot32BitConstant");
    }
    void STDMETHODCALLTYPE SetGraphicsRoot32BitConstants(UINT, UINT, const void*, UINT) override {
        unknown("SetGraphicsRoot32BitConstants");
    }
    void STDMETHODCALLTYPE SetGraphicsRootConstantBufferView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
        unknown("SetGraphicsRootConstantBufferView");
    }
    void STDMETHODCALLTYPE SetComputeRootShaderResourceView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
        unknown("SetComputeRootShaderResourceView");
    }
    void STDMETHODCALLTYPE SetGraphicsRootShaderResourceView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
        unknown("SetGraphicsRootShaderResourceView");
    }
    void STDMETHODCALLTYPE SetGraphicsRootUnorderedAccessView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
        unknown("SetGraphicsRootUnorderedAccessView");
    }
    void STDMETHODCALLTYPE IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW*) override { unknown("IASetIndexBuffer"); }
    void STDMETHODCALLTYPE IASetVertexBuffers(UINT, UINT, const D3D12_VERTEX_BUFFER_VIEW*) override {
        unknown("IASetVertexBuffers");
    }
    void STDMETHODCALLTYPE SOSetTargets(UINT, UINT, const D3D12_STREAM_OUTPUT_BUFFER_VIEW*) override {
        unknown("SOSetTargets");
    }
    void STDMETHODCALLTYPE OMSetRenderTargets(UINT, const D3D12_CPU_DESCRIPTOR_HANDLE*, BOOL,
                                              const D3D12_CPU_DESCRIPTOR_HANDLE*) override {
        unknown("OMSetRenderTargets");
    }
    void STDMETHODCALLTYPE ClearDepthStencilView(D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_CLEAR_FLAGS, FLOAT, UINT8, UINT,
                                                 const D3D12_RECT*) override {
        unknown("ClearDepthStencilView");
    }
    void STDMETHODCALLTYPE ClearRenderTargetView(D3D12_CPU_DESCRIPTOR_HANDLE, const FLOAT[4], UINT,
                                                 const D3D12_RECT*) override {
        unknown("ClearRenderTargetView");
    }
    void STDMETHODCALLTYPE ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE,
                                                        ID3D12Resource*, const UINT[4], UINT,
                                                        const D3D12_RECT*) override {
        unknown("ClearUnorderedAccessViewUint");
    }
    void STDMETHODCALLTYPE ClearUnorderedAccessViewFloat(D3D12_GPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE,
                                                         ID3D12Resource*, const FLOAT[4], UINT,
                                                         const D3D12_RECT*) override {
        unknown("ClearUnorderedAccessViewFloat");
    }
    void STDMETHODCALLTYPE DiscardResource(ID3D12Resource*, const D3D12_DISCARD_REGION*) override {
        unknown("DiscardResource");
    }
    void STDMETHODCALLTYPE BeginQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override { unknown("BeginQuery"); }
    void STDMETHODCALLTYPE SetPredication(ID3D12Resource*, UINT64, D3D12_PREDICATION_OP) override {
        unknown("SetPredication");
    }
    void STDMETHODCALLTYPE SetMarker(UINT, const void*, UINT) override { unknown("SetMarker"); }
    void STDMETHODCALLTYPE BeginEvent(UINT, const void*, UINT) override { unknown("BeginEvent"); }
    void STDMETHODCALLTYPE EndEvent() override { unknown("EndEvent"); }
    void STDMETHODCALLTYPE ExecuteIndirect(ID3D12CommandSignature*, UINT, ID3D12Resource*, UINT64, ID3D12Resource*,
                                           UINT64) override {
        unknown("ExecuteIndirect");
    }

private:
    static HRESULT unknown(const std::string& what) { throw std::logic_error("RecordingList does not know " + what); }

    std::map<UINT, D3D12_GPU_VIRTUAL_ADDRESS> bound_;
};

}  // namespace dmlconform::tests
