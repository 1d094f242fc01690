// Creation of root signatures and pipelines.
#include "engine/d3d12/pipeline_cache.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "engine/d3d12/d3d12_error.h"
#include "engine/d3d12/platform.h"
#include "engine/d3d12/shader_library.h"

namespace dmlconform::d3d12 {
namespace {

constexpr UINT shape_constants = 2;

/// `units`: the table of buffers as units; null without it.
std::vector<D3D12_ROOT_PARAMETER> root_parameters_for(std::size_t buffer_count, const D3D12_DESCRIPTOR_RANGE* units) {
    std::vector<D3D12_ROOT_PARAMETER> parameters(root_first_buffer + buffer_count);
    parameters[root_shape].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
    parameters[root_shape].Constants = {1, 0, shape_constants};
    parameters[root_parameters].ParameterType = D3D12_ROOT_PARAMETER_TYPE_CBV;
    parameters[root_parameters].Descriptor = {0, 0};
    for (std::size_t i = 0; i < buffer_count; ++i) {
        parameters[root_first_buffer + i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
        parameters[root_first_buffer + i].Descriptor = {static_cast<UINT>(i), 0};
    }
    if (units != nullptr) {
        D3D12_ROOT_PARAMETER& table = parameters.emplace_back();
        table.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
        table.DescriptorTable = {1, units};
    }
    return parameters;
}

}  // namespace

PipelineCache::PipelineCache(ComPtr<ID3D12Device> device) : device_(std::move(device)) {}

core::Result<ComPtr<ID3D12RootSignature>> PipelineCache::root_signature(std::size_t buffer_count, bool has_units) {
    ComPtr<ID3D12RootSignature>& signature = root_signatures_[{buffer_count, has_units}];
    if (signature) {
        return signature;
    }
    const D3D12_DESCRIPTOR_RANGE units{D3D12_DESCRIPTOR_RANGE_TYPE_UAV, static_cast<UINT>(buffer_count),
                                       first_unit_register, 0, 0};
    const auto parameters = root_parameters_for(buffer_count, has_units ? &units : nullptr);
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
        return d3d12_error(fmt::format("no root signature with {} buffers", buffer_count), code);
    }
    return signature;
}

core::Result<const Pipeline*> PipelineCache::get(const ShaderVariant& variant, std::size_t buffer_count,
                                                 bool has_units) {
    std::string key = variant.key();
    const std::lock_guard lock(mutex_);
    if (const auto found = pipelines_.find(key); found != pipelines_.end()) {
        return &found->second;
    }
    auto signature = root_signature(buffer_count, has_units);
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
