// Compiled pipelines. Each shader variant is compiled once.
#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <string>

#include "engine/core/error.h"
#include "engine/d3d12/device/d3d12_headers.h"
#include "engine/d3d12/device/platform.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// Root parameters of every pipeline. Unordered-access views u0, u1, … follow, then the table of views if there is one.
enum RootParameter : UINT {
    root_shape,       // b1: two constants, see shaders/common/dispatch.hlsli
    root_parameters,  // b0: the constant buffer
    root_first_buffer,
};

/// The first register of the buffers' views as units: see Dispatch::has_units.
inline constexpr UINT first_unit_register = 16;

/// How a dispatch's buffers are bound: as root descriptors or in a table, and additionally as units in the table or
/// not.
struct BoundBuffers {
    std::size_t count = 0;
    bool has_units = false;
    bool in_table = false;

    explicit BoundBuffers(const Dispatch& dispatch)
        : count(dispatch.buffers.size()),
          has_units(dispatch.has_units),
          in_table(views_have_sizes && dispatch.has_parts()) {}

    /// The number of views in the table.
    [[nodiscard]] std::size_t table_size() const { return (in_table ? count : 0) + (has_units ? count : 0); }

    auto operator<=>(const BoundBuffers&) const = default;
};

struct Pipeline {
    ComPtr<ID3D12RootSignature> root_signature;
    ComPtr<ID3D12PipelineState> state;
};

/// Thread-safe.
class PipelineCache {
public:
    explicit PipelineCache(ComPtr<ID3D12Device> device);

    [[nodiscard]] const ComPtr<ID3D12Device>& device() const { return device_; }

    /// The pipeline for a variant. It lives as long as the cache.
    [[nodiscard]] core::Result<const Pipeline*> get(const ShaderVariant& variant, const BoundBuffers& buffers);

private:
    [[nodiscard]] core::Result<ComPtr<ID3D12RootSignature>> root_signature(const BoundBuffers& buffers);

    ComPtr<ID3D12Device> device_;
    /// Protects the following members.
    std::mutex mutex_;
    std::map<BoundBuffers, ComPtr<ID3D12RootSignature>> root_signatures_;
    std::map<std::string, Pipeline, std::less<>> pipelines_;
};

}  // namespace dmlconform::d3d12
