// Creates root signatures and pipelines.
#include "engine/d3d12/device/pipeline_cache.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "engine/d3d12/device/d3d12_error.h"
#include "engine/d3d12/device/platform.h"
#include "engine/d3d12/device/shader_library.h"

namespace dmlconform::d3d12 {
namespace {

constexpr UINT shape_constants = 2;

/// The views in the table: of buffers, and of buffers as units.
std::vector<D3D12_DESCRIPTOR_RANGE> ranges_for(const BoundBuffers& buffers) {
    std::vector<D3D12_DESCRIPTOR_RANGE> ranges;
    const auto count = static_cast<UINT>(buffers.count);
    if (buffers.in_table) {
        ranges.push_back({D3D12_DESCRIPTOR_RANGE_TYPE_UAV, count, 0, 0, 0});
    }
    if (buffers.has_units) {
        ranges.push_back(
            {D3D12_DESCRIPTOR_RANGE_TYPE_UAV, count, first_unit_register, 0, D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND});
    }
    return ranges;
}

std::vector<D3D12_ROOT_PARAMETER> root_parameters_for(const BoundBuffers& buffers,
                                                      const std::vector<D3D12_DESCRIPTOR_RANGE>& ranges) {
    const std::size_t direct = buffers.in_table ? 0 : buffers.count;
    std::vector<D3D12_ROOT_PARAMETER> parameters(root_first_buffer + direct);
    parameters[root_shape].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
    parameters[root_shape].Constants = {1, 0, shape_constants};
    parameters[root_parameters].ParameterType = D3D12_ROOT_PARAMETER_TYPE_CBV;
    parameters[root_parameters].Descriptor = {0, 0};
    for (std::size_t i = 0; i < direct; ++i) {
        parameters[root_first_buffer + i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
        parameters[root_first_buffer + i].Descriptor = {static_cast<UINT>(i), 0};
    }
    if (!ranges.empty()) {
        D3D12_ROOT_PARAMETER& table = parameters.emplace_back();
        table.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
        table.DescriptorTable = {static_cast<UINT>(ranges.size()), ranges.data()};
    }
    return parameters;
}

}  // namespace

PipelineCache::PipelineCache(ComPtr<ID3D12Device> device) : device_(std::move(device)) {}

core::Result<ComPtr<ID3D12RootSignature>> PipelineCache::root_signature(const BoundBuffers& buffers) {
    ComPtr<ID3D12RootSignature>& signature = root_signatures_[buffers];
    if (signature) {
        return signature;
    }
    const auto ranges = ranges_for(buffers);
    const auto parameters = root_parameters_for(buffers, ranges);
    D3D12_ROOT_SIGNATURE_DESC desc{};
    desc.NumParameters = static_cast<UINT>(parameters.size());
    desc.pParameters = parameters.data();
    ComPtr<ID3DBlob> blob;
    ComPtr<ID3DBlob> messages;
    HRESULT code = serialize_root_signature(desc, blob.GetAddressOf(), messages.GetAddressOf());
    if (SUCCEEDED(code)) {
        code = device_->CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(),
                                            IID_PPV_ARGS(signature.GetAddressOf()));
    }
    if (FAILED(code)) {
        return d3d12_error(fmt::format("no root signature with {} buffers", buffers.count), code);
    }
    return signature;
}

core::Result<const Pipeline*> PipelineCache::get(const ShaderVariant& variant, const BoundBuffers& buffers) {
    std::string key = variant.key();
    if (buffers.in_table) {
        key += " in a table";
    }
    const std::lock_guard lock(mutex_);
    if (const auto found = pipelines_.find(key); found != pipelines_.end()) {
        return &found->second;
    }
    auto signature = root_signature(buffers);
    if (!signature) {
        return tl::unexpected(signature.error());
    }
    const auto bytecode = find_shader(variant);
    if (!bytecode) {
        return tl::unexpected(bytecode.error());
    }
    Pipeline pipeline;
    pipeline.root_signature = std::move(*signature);
    D3D12_COMPUTE_PIPELINE_STATE_DESC desc{};
    desc.pRootSignature = pipeline.root_signature.Get();
    desc.CS = {bytecode->data(), bytecode->size_bytes()};
    const HRESULT code = device_->CreateComputePipelineState(&desc, IID_PPV_ARGS(pipeline.state.GetAddressOf()));
    if (FAILED(code)) {
        return d3d12_error(fmt::format("no pipeline for shader {}", key), code);
    }
    return &pipelines_.emplace(std::move(key), std::move(pipeline)).first->second;
}

}  // namespace dmlconform::d3d12
