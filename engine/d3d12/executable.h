// An operator made ready for the device.
#pragma once

#include <memory>
#include <vector>

#include "engine/d3d12/tensor_memory.h"
#include "engine/engine.h"
#include "engine/executions_in_turn.h"

namespace dmlconform::d3d12 {

class D3d12Executable final : public Executable, public ExecutionsInTurn {
public:
    /// For the tensors of a descriptor, null where one is absent, and its Descriptor::in_place.
    [[nodiscard]] static core::Result<std::unique_ptr<Executable>> create(
        std::shared_ptr<Device> device, std::span<const core::TensorDesc* const> inputs,
        std::span<const core::TensorDesc* const> outputs, std::span<const std::optional<std::size_t>> in_place,
        const DispatchPlan& plan);

    [[nodiscard]] core::Result<void> bind(std::span<const core::Tensor* const> inputs) override;
    [[nodiscard]] core::Result<void> execute() override;
    [[nodiscard]] core::Result<void> read(std::span<core::Tensor* const> outputs) override;
    [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const override { return device_time_; }

    [[nodiscard]] std::size_t most_times() const override { return Commands::most_spans; }
    [[nodiscard]] core::Result<std::vector<std::chrono::nanoseconds>> execute_in_turn(std::span<Executable* const> turn,
                                                                                      std::size_t per_time) override;

    /// The commands that execute() submits next.
    void record(ID3D12GraphicsCommandList& list) const;

private:
    struct Step {
        const Pipeline* pipeline = nullptr;
        D3D12_GPU_VIRTUAL_ADDRESS parameters = 0;
        /// As root descriptors.
        std::vector<D3D12_GPU_VIRTUAL_ADDRESS> buffers;
        /// In a table; null if there is none.
        D3D12_GPU_DESCRIPTOR_HANDLE views{};
        UINT group_count = 0;
        UINT groups_per_row = 0;
        UINT rows = 0;
    };

    D3d12Executable(std::shared_ptr<Device> device, TensorMemory memory);
    [[nodiscard]] core::Result<void> prepare(const DispatchPlan& plan);
    [[nodiscard]] core::Result<void> describe_views(const DispatchPlan& plan);
    /// The dispatches.
    void record_steps(ID3D12GraphicsCommandList& list) const;

    /// Before the memory, which returns to the device's pool.
    std::shared_ptr<Device> device_;
    TensorMemory memory_;
    /// The tables, one step after the other; null if no step has any.
    ComPtr<ID3D12DescriptorHeap> views_;
    std::vector<Step> steps_;
    std::optional<std::chrono::nanoseconds> device_time_;
};

}  // namespace dmlconform::d3d12
