// A compiled operator or graph of DirectML with its tensors. Only for Windows.
#pragma once

#include <memory>
#include <vector>

#include "engine/core/guard.h"
#include "engine/directml/device.h"
#include "engine/engine.h"

namespace dmlconform::directml {

class DirectMlExecutable final : public Executable {
public:
    [[nodiscard]] static core::Result<std::unique_ptr<Executable>> create(std::shared_ptr<Device> device,
                                                                          const operators::Descriptor& descriptor,
                                                                          ComPtr<IDMLCompiledOperator> compiled);

    [[nodiscard]] core::Result<void> bind(std::span<const core::Tensor* const> inputs) override;
    [[nodiscard]] core::Result<void> execute() override;
    [[nodiscard]] core::Result<void> read(std::span<core::Tensor* const> outputs) override;
    [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const override { return device_time_; }

private:
    /// A tensor's memory. `bytes` is the part that is bound; 0 for an absent tensor.
    struct Slot {
        std::uint64_t bytes = 0;
        bool owned_by_dml = false;
        d3d12::PooledBuffer buffer;
        /// For an output that is computed in place, the input's buffer.
        ID3D12Resource* shared = nullptr;

        [[nodiscard]] ID3D12Resource* resource() const { return shared != nullptr ? shared : buffer.resource(); }
        [[nodiscard]] BufferBinding binding() const { return {bytes == 0 ? nullptr : resource(), 0, bytes}; }
    };

    explicit DirectMlExecutable(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    [[nodiscard]] core::Result<void> prepare(const operators::Descriptor& descriptor);
    [[nodiscard]] core::Result<void> add_slots(const std::vector<operators::TensorSlot>& tensors, std::uint64_t guard,
                                               std::vector<Slot>& slots);
    /// Marks the inputs of a graph: DirectML keeps constant ones. Inputs that no node reads get an empty binding,
    /// because a buffer would remove the device.
    void see_graph(const operators::Graph& graph);
    [[nodiscard]] core::Result<void> add_outputs(const operators::Descriptor& descriptor);
    [[nodiscard]] core::Result<void> acquire(d3d12::PooledBuffer& buffer, std::uint64_t bytes);

    /// Initialises the operator, including the inputs that DirectML keeps.
    [[nodiscard]] core::Result<void> initialise();
    [[nodiscard]] core::Result<void> bind_for_execution();
    [[nodiscard]] core::Result<void> reset_table(IDMLDispatchable* dispatchable, UINT descriptors);
    [[nodiscard]] core::Result<void> dispatch(const char* what, IDMLDispatchable* dispatchable);

    std::shared_ptr<Device> device_;
    ComPtr<IDMLCompiledOperator> compiled_;
    ComPtr<IDMLOperatorInitializer> initializer_;
    BindingProperties compiled_properties_;
    BindingProperties initializer_properties_;
    LentDescriptors descriptors_;
    ComPtr<IDMLBindingTable> table_;
    std::vector<Slot> inputs_;
    std::vector<Slot> outputs_;
    d3d12::PooledBuffer temporary_;
    d3d12::PooledBuffer persistent_;
    bool initialised_ = false;
    std::optional<std::chrono::nanoseconds> device_time_;
};

}  // namespace dmlconform::directml
