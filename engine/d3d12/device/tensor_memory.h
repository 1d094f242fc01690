// The memory of an executable's tensors on the device, and the transfer of their contents.
//
// Small tensors share a buffer, so that they need a single copy in each direction, which is part of the execution.
// Large ones have their own buffers and are copied when they are bound and read. Outputs are followed by guards, and
// are filled with untouched bytes on every bind. So are temporaries, whose guards are checked after the first execution
// that follows a bind; later, timed executions repeat the same work without a check. If the plan allows it, temporaries
// share memory in arenas without guards; each begins with what others left there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/guard.h"
#include "engine/core/tensor.h"
#include "engine/d3d12/device/device.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// A part of a buffer.
struct Segment {
    ID3D12Resource* buffer = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

class TensorMemory {
public:
    /// Allocates the tensors and constant buffers of a plan. Null: an absent tensor. `in_place` is
    /// Descriptor::in_place.
    [[nodiscard]] static core::Result<TensorMemory> create(Device& device,
                                                           std::span<const core::TensorDesc* const> inputs,
                                                           std::span<const core::TensorDesc* const> outputs,
                                                           std::span<const std::optional<std::size_t>> in_place,
                                                           const DispatchPlan& plan);

    [[nodiscard]] D3D12_GPU_VIRTUAL_ADDRESS address(BufferRef ref) const;
    /// The memory of a buffer with its guard; for a part, up to its last 16-byte unit.
    [[nodiscard]] Segment segment(BufferRef ref) const;
    [[nodiscard]] D3D12_GPU_VIRTUAL_ADDRESS parameters(std::size_t dispatch) const;
    /// The whole memory of a buffer, even for a part. Dispatches that share it must wait for each other.
    [[nodiscard]] Segment whole_segment(BufferRef ref) const { return segment({ref.kind, ref.index}); }

    /// Bytes of all temporaries; shared memory counts once.
    [[nodiscard]] std::uint64_t temporary_bytes() const;

    [[nodiscard]] core::Result<void> bind(Device& device, std::span<const core::Tensor* const> tensors);
    /// Fails if something was written beyond the end of a temporary.
    [[nodiscard]] core::Result<void> read(Device& device, std::span<core::Tensor* const> tensors) const;

    /// Record the copies before and after the dispatches of an execution.
    void record_upload(ID3D12GraphicsCommandList& list) const;
    void record_readback(ID3D12GraphicsCommandList& list) const;
    /// Begins a list that continues an execution: buffers return to the common state between lists.
    void record_continuation(ID3D12GraphicsCommandList& list) const;
    /// Must be called after a successful execution; its upload is then not repeated.
    void uploaded() { upload_pending_ = false; }
    /// True if the next execution uploads.
    [[nodiscard]] bool upload_pending() const { return upload_pending_; }

private:
    struct Slot {
        std::uint64_t bytes = 0;   // 0: absent
        std::uint64_t room = 0;    // includes the guard of an output or temporary
        std::uint64_t offset = 0;  // within the shared buffer
        PooledBuffer own;
        std::optional<std::size_t> in_output;  // for an input: the output whose memory it shares
        bool holds_input = false;              // for such an output
        bool begins_with_zeros = false;        // for a temporary
        std::optional<std::size_t> arena;      // for a temporary: the arena that its offset refers to
    };

    /// A buffer and an offset in it.
    struct Location {
        ID3D12Resource* buffer = nullptr;
        std::uint64_t offset = 0;
    };

    [[nodiscard]] const Slot& home(const Slot& input) const {
        return input.in_output ? outputs_[*input.in_output] : input;
    }
    void add_segments(std::span<Slot> slots);
    /// True if the tensor is in the shared buffer.
    [[nodiscard]] static bool is_small(const Slot& slot);
    void lay_out_in_arenas(const DispatchPlan& plan, std::uint64_t most_bytes);
    [[nodiscard]] const PooledBuffer& buffer_of(const Slot& slot) const;
    [[nodiscard]] core::Result<void> allocate(Device& device, const DispatchPlan& plan);
    /// Fails if a dispatch needs a buffer that the adapter cannot address as a whole.
    [[nodiscard]] core::Result<void> check_sizes(const DispatchPlan& plan, std::uint64_t addressable) const;
    void lay_out_upload(const DispatchPlan& plan);
    [[nodiscard]] core::Result<void> acquire_buffers(BufferPool& pool);
    void record_untouched(ID3D12GraphicsCommandList& list, ID3D12Resource* buffer, std::uint64_t begin,
                          std::uint64_t end) const;
    void record_temporary_guards(ID3D12GraphicsCommandList& list) const;
    void record_parameters(ID3D12GraphicsCommandList& list) const;
    [[nodiscard]] bool has_small_temporary() const;
    [[nodiscard]] Location guard_of(const Slot& temporary) const;
    [[nodiscard]] bool has_guard(const Slot& temporary) const { return !temporary.arena; }
    [[nodiscard]] core::Result<void> check_temporaries() const;
    [[nodiscard]] const Slot* slot_of(BufferRef ref) const;

    std::vector<Slot> inputs_;
    std::vector<Slot> outputs_;
    std::vector<Slot> temporaries_;
    /// Small tensors: inputs up to outputs_begin_, outputs up to outputs_end_, then temporaries.
    PooledBuffer shared_;
    /// Arenas for temporaries that share memory, and how much of each is used.
    std::vector<PooledBuffer> arenas_;
    std::vector<std::uint64_t> arena_bytes_;
    std::uint64_t shared_bytes_ = 0;
    std::uint64_t outputs_begin_ = 0;
    std::uint64_t outputs_end_ = 0;
    /// Small inputs and untouched small outputs as in shared_, then a guard for temporaries, zeros for those that begin
    /// with zeros, and the constant buffers.
    PooledBuffer upload_;
    std::uint64_t zeros_begin_ = 0;
    std::uint64_t parameters_begin_ = 0;
    std::uint64_t parameters_end_ = 0;
    /// The constant buffers in device memory, because all processors of the device wait for them before they start.
    PooledBuffer constants_;
    std::vector<std::uint64_t> parameter_offsets_;
    /// Small outputs, then the guards of temporaries.
    PooledBuffer readback_;
    /// The source for filling large outputs and arenas; null without any. Owned by the device.
    ID3D12Resource* untouched_ = nullptr;
    bool upload_pending_ = false;
};

}  // namespace dmlconform::d3d12
