// Where the tensors of one executable are on the device, and how their bytes get there and back.
//
// Small tensors share one buffer, so that all of them together take one copy each way, which rides along with the
// execution. Large ones have buffers of their own and are copied when they are bound and read. Outputs have their
// guards behind them, and begin untouched after every bind. So do temporaries, whose guards are looked at after the
// first execution that follows a bind: those that are timed later do the same over again, and pay nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/guard.h"
#include "engine/core/tensor.h"
#include "engine/d3d12/device.h"
#include "engine/d3d12/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// A part of a buffer.
struct Stretch {
    ID3D12Resource* buffer = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

class TensorMemory {
public:
    /// Makes room for the tensors of a plan and for its constant buffers. Null: an absent tensor. `in_place` is
    /// Descriptor::in_place.
    [[nodiscard]] static core::Result<TensorMemory> create(Device& device,
                                                           std::span<const core::TensorDesc* const> inputs,
                                                           std::span<const core::TensorDesc* const> outputs,
                                                           std::span<const std::optional<std::size_t>> in_place,
                                                           const DispatchPlan& plan);

    [[nodiscard]] D3D12_GPU_VIRTUAL_ADDRESS address(BufferRef ref) const;
    /// Where the buffer's memory is, with its guard; of a part, up to its last unit of 16 bytes.
    [[nodiscard]] Stretch stretch(BufferRef ref) const;
    [[nodiscard]] D3D12_GPU_VIRTUAL_ADDRESS parameters(std::size_t dispatch) const;

    [[nodiscard]] core::Result<void> bind(Device& device, std::span<const core::Tensor* const> tensors);
    /// An error, too, when something was written beyond the end of a temporary.
    [[nodiscard]] core::Result<void> read(Device& device, std::span<core::Tensor* const> tensors) const;

    /// For the commands of an execution: before its dispatches and after.
    void record_upload(ID3D12GraphicsCommandList& list) const;
    void record_readback(ID3D12GraphicsCommandList& list) const;
    /// To be called when an execution was successful: its upload need not be repeated.
    void uploaded() { upload_pending_ = false; }
    /// Whether the next execution has one.
    [[nodiscard]] bool upload_pending() const { return upload_pending_; }

private:
    struct Slot {
        std::uint64_t bytes = 0;   // 0: absent
        std::uint64_t room = 0;    // with the guard of an output or temporary
        std::uint64_t offset = 0;  // in the shared buffer
        PooledBuffer own;
        std::optional<std::size_t> in_output;  // of an input: the output whose memory it is in
        bool holds_input = false;              // of such an output
        bool begins_with_zeros = false;        // of a temporary
    };

    /// A place in a buffer.
    struct Location {
        ID3D12Resource* buffer = nullptr;
        std::uint64_t offset = 0;
    };

    [[nodiscard]] const Slot& home(const Slot& input) const {
        return input.in_output ? outputs_[*input.in_output] : input;
    }
    void place(std::span<Slot> slots);
    [[nodiscard]] core::Result<void> allocate(Device& device, const DispatchPlan& plan);
    void record_untouched(ID3D12GraphicsCommandList& list, const Slot& output) const;
    void record_temporary_guards(ID3D12GraphicsCommandList& list) const;
    void record_parameters(ID3D12GraphicsCommandList& list) const;
    [[nodiscard]] bool has_small_temporary() const;
    [[nodiscard]] Location guard_of(const Slot& temporary) const;
    [[nodiscard]] core::Result<void> check_temporaries() const;
    [[nodiscard]] const Slot* slot_of(BufferRef ref) const;

    std::vector<Slot> inputs_;
    std::vector<Slot> outputs_;
    std::vector<Slot> temporaries_;
    /// Small tensors: inputs up to outputs_begin_, outputs up to outputs_end_, temporaries.
    PooledBuffer shared_;
    std::uint64_t shared_bytes_ = 0;
    std::uint64_t outputs_begin_ = 0;
    std::uint64_t outputs_end_ = 0;
    /// Small inputs and untouched small outputs as in shared_, then a guard for temporaries, zeros for those that begin
    /// with them, and the constant buffers.
    PooledBuffer upload_;
    std::uint64_t zeros_begin_ = 0;
    std::uint64_t parameters_begin_ = 0;
    std::uint64_t parameters_end_ = 0;
    /// The constant buffers, in the device's memory: all its processors wait for them before they do anything.
    PooledBuffer constants_;
    std::vector<std::uint64_t> parameter_offsets_;
    /// Small outputs, then the guards of temporaries.
    PooledBuffer readback_;
    /// What large outputs are filled from; null without any. The device's.
    ID3D12Resource* untouched_ = nullptr;
    bool upload_pending_ = false;
};

}  // namespace dmlconform::d3d12
