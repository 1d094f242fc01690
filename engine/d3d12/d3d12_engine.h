// The D3D12 engine: runs every operator by the project's own HLSL shaders on a graphics adapter.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/d3d12/device/adapters.h"
#include "engine/engine.h"

namespace dmlconform::d3d12 {

struct Device;
class PipelineCache;

/// If the device is lost, only the current work fails: the next descriptor gets a new device.
class D3d12Engine final : public Engine {
public:
    D3d12Engine(std::shared_ptr<Device> device, const AdapterInfo& adapter, core::FeatureLevel level);
    ~D3d12Engine() override;

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override;
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override;
    /// Compiles a graph into one command list.
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph) override;
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> another() const override;
    [[nodiscard]] core::Result<Roofline> measure_roofline() override;

    /// The device with its pipelines.
    [[nodiscard]] const std::shared_ptr<PipelineCache>& pipelines() const;

private:
    /// Replaces a device that was lost.
    [[nodiscard]] core::Result<void> ensure_device();
    /// The device for a valid descriptor. Its conversions of FLOAT16 are checked first if the descriptor needs them.
    [[nodiscard]] std::optional<CompileFailure> prepare_for(const operators::Descriptor& descriptor);

    std::shared_ptr<Device> device_;
    AdapterInfo adapter_;
    EngineInfo info_;
};

/// Creates a device with its own queue for executables. `time_limit`: how long the adapter may take for one executable;
/// empty: the default for its kind.
[[nodiscard]] core::Result<std::shared_ptr<Device>> create_device(
    const std::shared_ptr<PipelineCache>& pipelines, const AdapterInfo& adapter,
    std::optional<std::chrono::seconds> time_limit = std::nullopt);

/// Creates an engine on the adapter that `adapter_substring` selects: see choose_adapter. Descriptors are validated
/// against `level`.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_engine(std::string_view adapter_substring,
                                                                  core::FeatureLevel level);

}  // namespace dmlconform::d3d12
