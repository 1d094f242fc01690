// The D3D12 engine: every operator as our own HLSL on a graphics adapter.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/d3d12/adapters.h"
#include "engine/engine.h"

namespace dmlconform::d3d12 {

struct Device;
class PipelineCache;

/// A device that is lost costs what is under way: the next descriptor gets a new one.
class D3d12Engine final : public Engine {
public:
    D3d12Engine(std::shared_ptr<Device> device, const AdapterInfo& adapter, core::FeatureLevel level);
    ~D3d12Engine() override;

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override;
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override;
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> another() const override;
    [[nodiscard]] core::Result<Roofline> measure_roofline() override;

    /// The device, and what was compiled for it.
    [[nodiscard]] const std::shared_ptr<PipelineCache>& pipelines() const;

private:
    /// Takes another device in place of one that was lost.
    [[nodiscard]] core::Result<void> ensure_device();

    std::shared_ptr<Device> device_;
    AdapterInfo adapter_;
    EngineInfo info_;
};

/// What executables run on, with a queue of its own. `time_limit`: what the adapter may take for one of them; nothing:
/// the default for its kind.
[[nodiscard]] core::Result<std::shared_ptr<Device>> create_device(
    const std::shared_ptr<PipelineCache>& pipelines, const AdapterInfo& adapter,
    std::optional<std::chrono::seconds> time_limit = std::nullopt);

/// An engine on the adapter that `adapter_substring` chooses: see choose_adapter. `level` is what descriptors are
/// validated against.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_engine(std::string_view adapter_substring,
                                                                  core::FeatureLevel level);

}  // namespace dmlconform::d3d12
