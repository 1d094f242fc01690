// Allocates tensors and copies them to and from the device.
#include "engine/d3d12/device/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/d3d12/planning/arena.h"
#include "engine/d3d12/planning/part.h"

namespace dmlconform::d3d12 {
namespace {

/// Alignment of tensors in the shared buffer. It is also D3D12's alignment of constant buffers.
constexpr std::uint64_t alignment = 256;

static_assert(core::guard_bytes % alignment == 0, "constant buffers follow a guard");

/// Smaller tensors share a buffer: copying them on the CPU costs less than submitting a copy.
constexpr std::uint64_t small_bytes = std::uint64_t{64} << 10;

/// Size of the staging buffers through which large tensors are copied.
constexpr std::uint64_t staging_bytes = std::uint64_t{16} << 20;

/// Size of the buffer from which large outputs are filled.
constexpr std::uint64_t untouched_bytes = std::uint64_t{1} << 20;

/// Limit for the size of arenas, so that drivers find memory for them, and pools keep them.
constexpr std::uint64_t most_arena_bytes = std::uint64_t{512} << 20;

constexpr std::uint64_t unit_bytes = 16;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

void transition(ID3D12GraphicsCommandList& list, ID3D12Resource* resource, D3D12_RESOURCE_STATES before,
                D3D12_RESOURCE_STATES after) {
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    barrier.Transition.pResource = resource;
    barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
    barrier.Transition.StateBefore = before;
    barrier.Transition.StateAfter = after;
    list.ResourceBarrier(1, &barrier);
}

/// Calls copy(begin, bytes) for segments of `total` that fit a staging buffer.
template <class Copy>
core::Result<void> in_segments(std::uint64_t total, Copy&& copy) {
    for (std::uint64_t begin = 0; begin < total; begin += staging_bytes) {
        if (auto result = copy(begin, std::min(staging_bytes, total - begin)); !result) {
            return result;
        }
    }
    return {};
}

std::uint64_t words(std::uint64_t bytes) {
    return (bytes + 3) / 4 * 4;
}

core::Result<void> upload(Device& device, std::span<const std::byte> from, ID3D12Resource* to) {
    auto staging = device.buffers.acquire(Heap::upload, std::min<std::uint64_t>(from.size(), staging_bytes));
    if (!staging) {
        return tl::unexpected(staging.error());
    }
    return in_segments(from.size(), [&](std::uint64_t begin, std::uint64_t bytes) {
        std::memcpy(staging->mapped(), from.data() + begin, bytes);
        return device.commands->run(
            [&](ID3D12GraphicsCommandList& list) { list.CopyBufferRegion(to, begin, staging->resource(), 0, bytes); });
    });
}

core::Result<void> download(Device& device, ID3D12Resource* from, std::span<std::byte> to) {
    auto staging = device.buffers.acquire(Heap::readback, std::min<std::uint64_t>(to.size(), staging_bytes));
    if (!staging) {
        return tl::unexpected(staging.error());
    }
    return in_segments(to.size(), [&](std::uint64_t begin, std::uint64_t bytes) -> core::Result<void> {
        auto copied = device.commands->run([&](ID3D12GraphicsCommandList& list) {
            list.CopyBufferRegion(staging->resource(), 0, from, begin, bytes);
        });
        if (copied) {
            std::memcpy(to.data() + begin, staging->mapped(), bytes);
        }
        return copied;
    });
}

/// The device's buffer of untouched bytes, created by the first executable that needs it.
core::Result<ID3D12Resource*> untouched_buffer(Device& device) {
    if (!device.untouched) {
        auto buffer = device.buffers.acquire(Heap::device, untouched_bytes);
        if (!buffer) {
            return tl::unexpected(buffer.error());
        }
        const std::vector<std::byte> bytes(untouched_bytes, core::untouched);
        if (auto uploaded = upload(device, bytes, buffer->resource()); !uploaded) {
            return tl::unexpected(uploaded.error());
        }
        device.untouched = std::move(*buffer);
    }
    return device.untouched.resource();
}

}  // namespace

core::Result<TensorMemory> TensorMemory::create(Device& device, std::span<const core::TensorDesc* const> inputs,
                                                std::span<const core::TensorDesc* const> outputs,
                                                std::span<const std::optional<std::size_t>> in_place,
                                                const DispatchPlan& plan) {
    TensorMemory memory;
    const auto slots_of = [](std::span<const core::TensorDesc* const> descs, std::uint64_t guard) {
        std::vector<Slot> slots(descs.size());
        for (std::size_t i = 0; i < descs.size(); ++i) {
            if (descs[i] != nullptr) {
                slots[i].bytes = device_bytes(*descs[i]);
                slots[i].room = words(slots[i].bytes) + guard;
            }
        }
        return slots;
    };
    memory.inputs_ = slots_of(inputs, 0);
    memory.outputs_ = slots_of(outputs, core::guard_bytes);
    for (std::size_t o = 0; o < in_place.size(); ++o) {
        if (in_place[o]) {
            memory.inputs_[*in_place[o]].in_output = o;
            memory.outputs_[o].holds_input = true;
        }
    }
    memory.temporaries_.resize(plan.temporaries.size());
    for (std::size_t i = 0; i < plan.temporaries.size(); ++i) {
        memory.temporaries_[i].bytes = plan.temporaries[i];
        memory.temporaries_[i].room = words(plan.temporaries[i]) + core::guard_bytes;
    }
    for (const std::size_t i : plan.zeroed) {
        memory.temporaries_[i].begins_with_zeros = true;
    }
    memory.add_segments(memory.inputs_);
    memory.outputs_begin_ = memory.shared_bytes_;
    memory.add_segments(memory.outputs_);
    memory.outputs_end_ = memory.shared_bytes_;
    if (plan.shares_memory) {
        // A root descriptor extends to the end of its buffer: see docs/d3d12-engine.md.
        memory.lay_out_in_arenas(plan, std::min(device.addressable.bytes, most_arena_bytes));
    }
    memory.add_segments(memory.temporaries_);
    if (auto allocated = memory.allocate(device, plan); !allocated) {
        return tl::unexpected(allocated.error());
    }
    return memory;
}

bool TensorMemory::is_small(const Slot& slot) {
    return slot.bytes < small_bytes && !slot.in_output && !slot.arena;
}

void TensorMemory::add_segments(std::span<Slot> slots) {
    for (Slot& slot : slots) {
        if (is_small(slot)) {
            slot.offset = shared_bytes_;
            shared_bytes_ += aligned(slot.room);
        }
    }
}

void TensorMemory::lay_out_in_arenas(const DispatchPlan& plan, std::uint64_t most_bytes) {
    // A dispatch that reuses the memory of another one's input must wait for that one. So memory is only reused from
    // earlier waves, which it waits for anyway.
    const std::vector<std::size_t> waves = waves_of(plan);
    std::vector<std::optional<Tenant>> uses(temporaries_.size());
    for (std::size_t d = 0; d < plan.dispatches.size(); ++d) {
        for (const BufferRef& ref : plan.dispatches[d].buffers) {
            if (ref.kind == BufferRef::Kind::temporary && !temporaries_[ref.index].begins_with_zeros) {
                auto& use = uses[ref.index];
                use = Tenant{temporaries_[ref.index].bytes, use ? use->first : waves[d], waves[d]};
            }
        }
    }
    std::vector<Slot*> slots;
    std::vector<Tenant> tenants;
    for (std::size_t t = 0; t < uses.size(); ++t) {
        if (uses[t]) {
            slots.push_back(&temporaries_[t]);
            tenants.push_back(*uses[t]);
        }
    }
    const ArenaLayout layout = lay_out(tenants, alignment, most_bytes);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        slots[i]->room = words(slots[i]->bytes);
        slots[i]->arena = layout.positions[i].arena;
        slots[i]->offset = layout.positions[i].offset;
    }
    arena_bytes_ = layout.arenas;
}

std::uint64_t TensorMemory::temporary_bytes() const {
    std::uint64_t sum = 0;
    for (const Slot& temporary : temporaries_) {
        sum += temporary.arena ? 0 : temporary.bytes;
    }
    for (const std::uint64_t bytes : arena_bytes_) {
        sum += bytes;
    }
    return sum;
}

const PooledBuffer& TensorMemory::buffer_of(const Slot& slot) const {
    return slot.own ? slot.own : slot.arena ? arenas_[*slot.arena] : shared_;
}

core::Result<void> TensorMemory::allocate(Device& device, const DispatchPlan& plan) {
    if (auto addressable = check_sizes(plan, device.addressable.bytes); !addressable) {
        return addressable;
    }
    lay_out_upload(plan);
    if (auto acquired = acquire_buffers(device.buffers); !acquired) {
        return acquired;
    }
    const auto is_large = [](const Slot& slot) { return bool{slot.own}; };
    if (std::ranges::any_of(outputs_, is_large) || !arenas_.empty()) {
        const auto buffer = untouched_buffer(device);
        if (!buffer) {
            return tl::unexpected(buffer.error());
        }
        untouched_ = *buffer;
    }
    for (std::size_t i = 0; i < plan.dispatches.size(); ++i) {
        const auto words = std::as_bytes(std::span(plan.dispatches[i].parameters));
        std::ranges::copy(words, upload_.mapped() + parameters_begin_ + parameter_offsets_[i]);
    }
    std::memset(upload_.mapped() + zeros_begin_, 0, parameters_begin_ - zeros_begin_);
    return {};
}

core::Result<void> TensorMemory::check_sizes(const DispatchPlan& plan, std::uint64_t addressable) const {
    for (const Dispatch& dispatch : plan.dispatches) {
        for (const BufferRef& ref : dispatch.buffers) {
            const Slot* slot = slot_of(ref);
            const std::uint64_t bytes = slot == nullptr ? 0 : ref.bytes != 0 ? ref.bytes : slot->bytes;
            if (bytes > addressable) {
                return core::fail(
                    fmt::format("a buffer of {} bytes is needed, and the adapter addresses {}", bytes, addressable));
            }
        }
    }
    return {};
}

void TensorMemory::lay_out_upload(const DispatchPlan& plan) {
    zeros_begin_ = outputs_end_ + core::guard_bytes;
    std::uint64_t zero_bytes = 0;
    for (const Slot& temporary : temporaries_) {
        zero_bytes = std::max(zero_bytes, temporary.begins_with_zeros ? temporary.bytes : 0);
    }
    parameters_begin_ = zeros_begin_ + aligned(zero_bytes);
    parameters_end_ = parameters_begin_;
    for (const Dispatch& dispatch : plan.dispatches) {
        parameter_offsets_.push_back(parameters_end_ - parameters_begin_);
        parameters_end_ += aligned(dispatch.parameters.size() * sizeof(std::uint32_t));
    }
}

core::Result<void> TensorMemory::acquire_buffers(BufferPool& pool) {
    std::optional<core::Error> failure;
    const auto acquire = [&](PooledBuffer& buffer, Heap heap, std::uint64_t bytes) {
        if (failure) {
            return;
        }
        if (auto acquired = pool.acquire(heap, bytes)) {
            buffer = std::move(*acquired);
        } else {
            failure = acquired.error();
        }
    };
    for (std::vector<Slot>* slots : {&inputs_, &outputs_, &temporaries_}) {
        for (Slot& slot : *slots) {
            if (!is_small(slot) && !slot.in_output && !slot.arena) {
                acquire(slot.own, Heap::device, slot.room);
            }
        }
    }
    for (const std::uint64_t bytes : arena_bytes_) {
        acquire(arenas_.emplace_back(), Heap::device, bytes);
    }
    // At least one byte, to stand in for absent buffers.
    acquire(shared_, Heap::device, std::max(shared_bytes_, alignment));
    acquire(upload_, Heap::upload, parameters_end_);
    acquire(constants_, Heap::device, std::max(parameters_end_ - parameters_begin_, alignment));
    const std::uint64_t readback_bytes = outputs_end_ - outputs_begin_ + temporaries_.size() * core::guard_bytes;
    if (readback_bytes > 0) {
        acquire(readback_, Heap::readback, readback_bytes);
    }
    if (failure) {
        return tl::unexpected(std::move(*failure));
    }
    return {};
}

const TensorMemory::Slot* TensorMemory::slot_of(BufferRef ref) const {
    switch (ref.kind) {
        case BufferRef::Kind::input:
            return &home(inputs_[ref.index]);
        case BufferRef::Kind::output:
            return &outputs_[ref.index];
        case BufferRef::Kind::temporary:
            return &temporaries_[ref.index];
        case BufferRef::Kind::absent:
        default:
            return nullptr;
    }
}

D3D12_GPU_VIRTUAL_ADDRESS TensorMemory::address(BufferRef ref) const {
    const Slot* slot = slot_of(ref);
    if (slot == nullptr) {
        return shared_.address();
    }
    return buffer_of(*slot).address() + slot->offset + ref.start;
}

Segment TensorMemory::segment(BufferRef ref) const {
    const Slot* slot = slot_of(ref);
    if (slot == nullptr) {
        return {shared_.resource(), 0, alignment};
    }
    // Buffers are this large, so that the last unit is complete.
    Segment segment{buffer_of(*slot).resource(), slot->offset, aligned(slot->room)};
    if (slot->own) {
        segment.bytes = std::min(segment.bytes, slot->own.size());
    }
    if (ref.bytes != 0) {
        segment.offset += ref.start;
        segment.bytes = std::min((ref.bytes + unit_bytes - 1) / unit_bytes * unit_bytes, segment.bytes - ref.start);
    }
    return segment;
}

D3D12_GPU_VIRTUAL_ADDRESS TensorMemory::parameters(std::size_t dispatch) const {
    return constants_.address() + parameter_offsets_[dispatch];
}

core::Result<void> TensorMemory::bind(Device& device, std::span<const core::Tensor* const> tensors) {
    std::memset(upload_.mapped() + outputs_begin_, std::to_integer<int>(core::untouched),
                outputs_end_ - outputs_begin_ + core::guard_bytes);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const Slot& slot = home(inputs_[i]);
        if (slot.bytes == 0) {
            continue;
        }
        const auto bytes = tensors[i]->buffer.bytes().first(slot.bytes);
        if (!slot.own) {
            std::memcpy(upload_.mapped() + slot.offset, bytes.data(), bytes.size());
        } else if (auto result = upload(device, bytes, slot.own.resource()); !result) {
            return result;
        }
    }
    upload_pending_ = true;
    return {};
}

core::Result<void> TensorMemory::read(Device& device, std::span<core::Tensor* const> tensors) const {
    if (auto checked = check_temporaries(); !checked) {
        return checked;
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Slot& slot = outputs_[i];
        if (slot.bytes == 0 || tensors[i] == nullptr) {
            continue;
        }
        // The guard follows the elements, or the total size if that is larger.
        const std::span<std::byte> bytes = tensors[i]->buffer.bytes();
        if (!slot.own) {
            std::memcpy(bytes.data(), readback_.mapped() + (slot.offset - outputs_begin_), slot.room);
        } else if (auto result = download(device, slot.own.resource(), bytes.first(slot.room)); !result) {
            return result;
        }
        std::memmove(bytes.data() + (bytes.size() - core::guard_bytes), bytes.data() + (slot.room - core::guard_bytes),
                     core::guard_bytes);
    }
    return {};
}

void TensorMemory::record_untouched(ID3D12GraphicsCommandList& list, ID3D12Resource* buffer, std::uint64_t begin,
                                    std::uint64_t end) const {
    for (; begin < end; begin += untouched_bytes) {
        list.CopyBufferRegion(buffer, begin, untouched_, 0, std::min(untouched_bytes, end - begin));
    }
    transition(list, buffer, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
}

TensorMemory::Location TensorMemory::guard_of(const Slot& temporary) const {
    return {buffer_of(temporary).resource(), temporary.offset + words(temporary.bytes)};
}

bool TensorMemory::has_small_temporary() const {
    return std::ranges::any_of(temporaries_, [](const Slot& slot) { return is_small(slot); });
}

core::Result<void> TensorMemory::check_temporaries() const {
    for (std::size_t i = 0; i < temporaries_.size(); ++i) {
        if (!has_guard(temporaries_[i])) {
            continue;
        }
        const std::byte* guard = readback_.mapped() + (outputs_end_ - outputs_begin_) + i * core::guard_bytes;
        if (const auto write = core::find_stray_write({guard, core::guard_bytes})) {
            return core::fail(
                fmt::format("a shader wrote beyond the end of temporary {}, which has {} bytes: {} of the {} bytes "
                            "after it, from byte {} on",
                            i, temporaries_[i].bytes, write->bytes, core::guard_bytes, write->offset),
                "this is a bug in the shaders of the D3D12 engine");
        }
    }
    return {};
}

void TensorMemory::record_temporary_guards(ID3D12GraphicsCommandList& list) const {
    for (const Slot& temporary : temporaries_) {
        if (!has_guard(temporary)) {
            continue;
        }
        const Location guard = guard_of(temporary);
        list.CopyBufferRegion(guard.buffer, guard.offset, upload_.resource(), outputs_end_, core::guard_bytes);
        if (temporary.begins_with_zeros) {
            list.CopyBufferRegion(guard.buffer, guard.offset - words(temporary.bytes), upload_.resource(), zeros_begin_,
                                  temporary.bytes);
        }
        if (temporary.own) {
            transition(list, guard.buffer, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        }
    }
}

void TensorMemory::record_parameters(ID3D12GraphicsCommandList& list) const {
    if (parameters_end_ > parameters_begin_) {
        list.CopyBufferRegion(constants_.resource(), 0, upload_.resource(), parameters_begin_,
                              parameters_end_ - parameters_begin_);
        transition(list, constants_.resource(), D3D12_RESOURCE_STATE_COPY_DEST,
                   D3D12_RESOURCE_STATE_VERTEX_AND_CONSTANT_BUFFER);
    }
}

void TensorMemory::record_upload(ID3D12GraphicsCommandList& list) const {
    if (!upload_pending_) {
        return;
    }
    if (outputs_end_ > 0) {
        list.CopyBufferRegion(shared_.resource(), 0, upload_.resource(), 0, outputs_end_);
    }
    record_temporary_guards(list);
    record_parameters(list);
    if (outputs_end_ > 0 || has_small_temporary()) {
        transition(list, shared_.resource(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    }
    for (const Slot& output : outputs_) {
        if (output.own) {
            // If the output shares an input's memory, only the guard is checked.
            record_untouched(list, output.own.resource(), output.holds_input ? words(output.bytes) : 0, output.room);
        }
    }
    // Results of an earlier execution, if left there, might be mistaken for this one's.
    for (std::size_t i = 0; i < arenas_.size(); ++i) {
        record_untouched(list, arenas_[i].resource(), 0, arena_bytes_[i]);
    }
}

void TensorMemory::record_readback(ID3D12GraphicsCommandList& list) const {
    const std::uint64_t output_bytes = outputs_end_ - outputs_begin_;
    if (output_bytes > 0 || (upload_pending_ && has_small_temporary())) {
        transition(list, shared_.resource(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
    }
    if (output_bytes > 0) {
        list.CopyBufferRegion(readback_.resource(), 0, shared_.resource(), outputs_begin_, output_bytes);
    }
    for (std::size_t i = 0; i < temporaries_.size() && upload_pending_; ++i) {
        if (!has_guard(temporaries_[i])) {
            continue;
        }
        const Location guard = guard_of(temporaries_[i]);
        if (temporaries_[i].own) {
            transition(list, guard.buffer, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
        }
        list.CopyBufferRegion(readback_.resource(), output_bytes + i * core::guard_bytes, guard.buffer, guard.offset,
                              core::guard_bytes);
    }
}

void TensorMemory::record_continuation(ID3D12GraphicsCommandList& list) const {
    if (outputs_end_ > 0 || has_small_temporary()) {
        transition(list, shared_.resource(), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    }
    for (const Slot& temporary : temporaries_) {
        if (upload_pending_ && temporary.own && has_guard(temporary)) {
            transition(list, temporary.own.resource(), D3D12_RESOURCE_STATE_COMMON,
                       D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        }
    }
}

}  // namespace dmlconform::d3d12
