// Pipelines: shaders made ready for the device, each once.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/core/error.h"
#include "engine/d3d12/d3d12_headers.h"
#include "engine/d3d12/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// Root parameters of every pipeline; unordered-access views u0, u1, … follow, then the table of units, if any.
enum RootParameter : UINT {
    root_shape,       // b1: two constants, see shaders/dispatch.hlsli
    root_parameters,  // b0: the constant buffer
    root_first_buffer,
};

/// Registers of the same buffers as units: see Dispatch::has_units.
inline constexpr UINT first_unit_register = 16;

struct Pipeline {
    ComPtr<ID3D12RootSignature> root_signature;
    ComPtr<ID3D12PipelineState> state;
};

/// May be used by several threads.
class PipelineCache {
public:
    explicit PipelineCache(ComPtr<ID3D12Device> device);

    [[nodiscard]] const ComPtr<ID3D12Device>& device() const { return device_; }

    /// The pipeline for a variant that works on so many buffers, as units, too, or not. The result lives as long as
    /// the cache.
    [[nodiscard]] core::Result<const Pipeline*> get(const ShaderVariant& variant, std::size_t buffer_count,
                                                    bool has_units);

private:
    [[nodiscard]] core::Result<ComPtr<ID3D12RootSignature>> root_signature(std::size_t buffer_count, bool has_units);

    ComPtr<ID3D12Device> device_;
    /// For what follows.
    std::mutex mutex_;
    std::map<std::pair<std::size_t, bool>, ComPtr<ID3D12RootSignature>> root_signatures_;
    std::map<std::string, Pipeline, std::less<>> pipelines_;
};

}  // namespace dmlconform::d3d12
