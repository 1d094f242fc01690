// The reference engine: computes every operator on the CPU, exactly or in double precision.
//
// Its results depend neither on the number of threads nor on the instruction set.
#pragma once

#include "engine/engine.h"

namespace dmlconform::cpu {

class CpuEngine final : public Engine {
public:
    explicit CpuEngine(core::FeatureLevel level);

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override;
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override;
    /// Compiles a graph. It runs the kernels one by one, and frees each value after its last reader.
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph) override;
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> another() const override {
        return std::make_unique<CpuEngine>(info_.feature_level);
    }
    [[nodiscard]] core::Result<Roofline> measure_roofline() override;

private:
    EngineInfo info_;
};

}  // namespace dmlconform::cpu
