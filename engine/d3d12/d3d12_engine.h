// The D3D12 engine: every operator as our own HLSL on a graphics adapter.
#pragma once

#include <memory>
#include <string_view>

#include "engine/d3d12/adapters.h"
#include "engine/engine.h"

namespace dmlconform::d3d12 {

struct Device;
class PipelineCache;

class D3d12Engine final : public Engine {
public:
    D3d12Engine(std::shared_ptr<Device> device, const AdapterInfo& adapter, core::FeatureLevel level);
    /// With a queue of its own.
    [[nodiscard]] static core::Result<std::unique_ptr<Engine>> create(std::shared_ptr<PipelineCache> pipelines,
                                                                      const AdapterInfo& adapter,
                                                                      core::FeatureLevel level);
    ~D3d12Engine() override;

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override;
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override;
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> another() const override;
    [[nodiscard]] core::Result<Roofline> measure_roofline() override;

private:
    std::shared_ptr<Device> device_;
    AdapterInfo adapter_;
    EngineInfo info_;
};

/// An engine on the adapter that `adapter_substring` chooses: see choose_adapter. `level` is what descriptors are
/// validated against.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_engine(std::string_view adapter_substring,
                                                                  core::FeatureLevel level);

}  // namespace dmlconform::d3d12
