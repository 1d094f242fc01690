// An operator or a graph that is ready to run on the device.
#pragma once

#include <memory>
#include <vector>

#include "engine/d3d12/device/tensor_memory.h"
#include "engine/d3d12/planning/graph_plan.h"
#include "engine/engine.h"
#include "engine/executions_in_turn.h"
#include "engine/graph_measurements.h"

namespace dmlconform::d3d12 {

class D3d12Executable final : public Executable, public ExecutionsInTurn, public GraphMeasurements {
public:
    /// Creates an executable for the tensors of a descriptor, which are null if absent, and its Descriptor::in_place.
    [[nodiscard]] static core::Result<std::unique_ptr<Executable>> create(
        std::shared_ptr<Device> device, std::span<const core::TensorDesc* const> inputs,
        std::span<const core::TensorDesc* const> outputs, std::span<const std::optional<std::size_t>> in_place,
        const DispatchPlan& plan);
    /// Creates an executable for a graph.
    [[nodiscard]] static core::Result<std::unique_ptr<Executable>> create(std::shared_ptr<Device> device,
                                                                          const GraphPlan& graph);

    [[nodiscard]] core::Result<void> bind(std::span<const core::Tensor* const> inputs) override;
    [[nodiscard]] core::Result<void> execute() override;
    [[nodiscard]] core::Result<void> read(std::span<core::Tensor* const> outputs) override;
    [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const override { return device_time_; }

    [[nodiscard]] std::size_t most_times() const override { return Commands::most_spans; }
    [[nodiscard]] core::Result<std::vector<std::chrono::nanoseconds>> execute_in_turn(std::span<Executable* const> turn,
                                                                                      std::size_t per_time) override;

    /// Treats an operator as a graph of one node.
    [[nodiscard]] core::Result<std::vector<std::chrono::nanoseconds>> time_nodes() override;
    /// The times that time_nodes() measured. Other executions do not measure nodes, because timestamps between them
    /// take time.
    [[nodiscard]] std::vector<std::chrono::nanoseconds> node_times() const override { return node_times_; }
    [[nodiscard]] std::uint64_t intermediate_bytes() const override { return memory_.temporary_bytes(); }

    /// Records the commands that execute() submits in its next list, from the step `next` on, and moves `next`. Returns
    /// true if there are more steps, for further lists.
    [[nodiscard]] bool record(ID3D12GraphicsCommandList& list, std::size_t& next) const;

private:
    struct Step {
        const Pipeline* pipeline = nullptr;
        D3D12_GPU_VIRTUAL_ADDRESS parameters = 0;
        /// Bound as root descriptors.
        std::vector<D3D12_GPU_VIRTUAL_ADDRESS> buffers;
        /// Bound as a table; null if there is none.
        D3D12_GPU_DESCRIPTOR_HANDLE views{};
        UINT group_count = 0;
        UINT groups_per_row = 0;
        UINT rows = 0;
        /// True if the step depends on preceding steps, and must wait for them.
        bool waits = false;
    };
    /// The steps of one node, as a range of indices.
    struct NodeSteps {
        std::size_t node = 0;
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    D3d12Executable(std::shared_ptr<Device> device, TensorMemory memory);
    [[nodiscard]] core::Result<void> prepare(const DispatchPlan& plan);
    [[nodiscard]] core::Result<void> describe_views(const DispatchPlan& plan);
    void find_waits(const DispatchPlan& plan);
    /// Begins the list that starts with this step, or node.
    void record_beginning(ID3D12GraphicsCommandList& list, std::size_t next) const;
    void record_steps(ID3D12GraphicsCommandList& list, std::span<const Step> steps) const;
    /// Records steps from `next` on, and moves it: at most `room`, which it reduces.
    void record_some(ID3D12GraphicsCommandList& list, std::size_t& next, std::size_t& room) const;
    [[nodiscard]] static core::Result<void> run_in_turn(std::span<const D3d12Executable* const> turn,
                                                        std::size_t per_time);

    /// Declared before the memory, which returns to the device's pool on destruction.
    std::shared_ptr<Device> device_;
    TensorMemory memory_;
    /// The descriptor tables of all steps; null if no step has one.
    ComPtr<ID3D12DescriptorHeap> views_;
    std::vector<Step> steps_;
    /// In the order of execution; empty for a single operator.
    std::vector<NodeSteps> nodes_;
    std::optional<std::chrono::nanoseconds> device_time_;
    std::vector<std::chrono::nanoseconds> node_times_;
};

}  // namespace dmlconform::d3d12
