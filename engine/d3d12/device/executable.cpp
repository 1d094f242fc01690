// Turns a plan into commands.
#include "engine/d3d12/device/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/d3d12/device/d3d12_error.h"
#include "engine/d3d12/device/platform.h"

namespace dmlconform::d3d12 {
namespace {

/// D3D12 allows 65,535 groups in each dimension.
constexpr std::uint64_t most_groups_per_row = 32768;

/// A view of words, or of 16-byte units.
D3D12_UNORDERED_ACCESS_VIEW_DESC view_of(const Segment& segment, bool units) {
    const std::uint64_t element_bytes = units ? 16 : 4;
    D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
    view.Format = units ? DXGI_FORMAT_R32G32B32A32_UINT : DXGI_FORMAT_UNKNOWN;
    view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
    view.Buffer.FirstElement = segment.offset / element_bytes;
    view.Buffer.NumElements = static_cast<UINT>(segment.bytes / element_bytes);
    view.Buffer.StructureByteStride = units ? 0 : static_cast<UINT>(element_bytes);
    return view;
}

void unordered_access_barrier(ID3D12GraphicsCommandList& list) {
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    list.ResourceBarrier(1, &barrier);
}

/// The value of a macro; empty if the variant does not have it.
std::optional<std::uint32_t> value_of(const ShaderVariant& variant, std::string_view macro) {
    for (const auto& [name, value] : variant.defines) {
        if (name == macro) {
            return value;
        }
    }
    return std::nullopt;
}

/// The best of equivalent variants for the device. If FLOAT16 and units are both involved, the device must support
/// both.
ShaderVariant variant_on(const Device& device, ShaderVariant variant) {
    const bool is_half = value_of(variant, half_macro).value_or(0) == HALF_BY_INTEGERS;
    const bool in_units = value_of(variant, units_macro).has_value();
    const bool converts = device.half_conversions.value_or(false) && (!in_units || device.reads_units);
    for (auto& [name, value] : variant.defines) {
        if (name == half_macro && is_half && converts) {
            value = HALF_BY_DEVICE;
        }
        if (name == units_macro && device.reads_units && (!is_half || converts)) {
            value = UNITS_AT_ONCE;
        }
    }
    return variant;
}

/// The accesses since the last barrier.
class PendingAccesses {
public:
    /// Adds a dispatch. Returns true if it depends on a preceding one, so that a barrier must come first.
    [[nodiscard]] bool add(const Dispatch& dispatch, const TensorMemory& memory) {
        std::vector<Access> own;
        for (const BufferRef& ref : dispatch.buffers) {
            if (ref.kind != BufferRef::Kind::absent) {
                own.push_back({memory.whole_segment(ref), ref.may_be_written()});
            }
        }
        const bool waits = std::ranges::any_of(own, [this](const Access& access) {
            return std::ranges::any_of(pending_, [&](const Access& other) { return conflict(access, other); });
        });
        if (waits) {
            pending_.clear();
        }
        pending_.insert(pending_.end(), own.begin(), own.end());
        return waits;
    }

private:
    struct Access {
        Segment segment;
        bool writes = false;
    };

    [[nodiscard]] static bool conflict(const Access& a, const Access& b) {
        return (a.writes || b.writes) && a.segment.buffer == b.segment.buffer &&
               a.segment.offset < b.segment.offset + b.segment.bytes &&
               b.segment.offset < a.segment.offset + a.segment.bytes;
    }

    std::vector<Access> pending_;
};

}  // namespace

core::Result<std::unique_ptr<Executable>> D3d12Executable::create(std::shared_ptr<Device> device,
                                                                  const GraphPlan& graph) {
    auto executable = create(std::move(device), graph.inputs, graph.outputs, {}, graph.plan);
    if (executable) {
        auto& nodes = static_cast<D3d12Executable&>(**executable).nodes_;
        for (std::size_t i = 0; i < graph.order.size(); ++i) {
            nodes.push_back({graph.order[i], i == 0 ? 0 : graph.ends[i - 1], graph.ends[i]});
        }
    }
    return executable;
}

core::Result<std::unique_ptr<Executable>> D3d12Executable::create(std::shared_ptr<Device> device,
                                                                  std::span<const core::TensorDesc* const> inputs,
                                                                  std::span<const core::TensorDesc* const> outputs,
                                                                  std::span<const std::optional<std::size_t>> in_place,
                                                                  const DispatchPlan& plan) {
    auto memory = TensorMemory::create(*device, inputs, outputs, in_place, plan);
    if (!memory) {
        return tl::unexpected(memory.error());
    }
    std::unique_ptr<D3d12Executable> executable(new D3d12Executable(std::move(device), std::move(*memory)));
    if (auto prepared = executable->prepare(plan); !prepared) {
        return tl::unexpected(prepared.error());
    }
    return executable;
}

D3d12Executable::D3d12Executable(std::shared_ptr<Device> device, TensorMemory memory)
    : device_(std::move(device)), memory_(std::move(memory)) {}

core::Result<void> D3d12Executable::prepare(const DispatchPlan& plan) {
    for (std::size_t i = 0; i < plan.dispatches.size(); ++i) {
        const Dispatch& dispatch = plan.dispatches[i];
        auto pipeline = device_->pipelines->get(variant_on(*device_, dispatch.shader), BoundBuffers(dispatch));
        if (!pipeline) {
            return tl::unexpected(pipeline.error());
        }
        const std::uint64_t rows = groups_of(dispatch.groups, most_groups_per_row);
        if (rows > most_groups_per_row) {
            return core::fail(fmt::format("{} would need {} thread groups", dispatch.shader.key(), dispatch.groups));
        }
        Step step;
        step.pipeline = *pipeline;
        step.parameters = memory_.parameters(i);
        for (const BufferRef& ref : dispatch.buffers) {
            if (!BoundBuffers(dispatch).in_table) {
                step.buffers.push_back(memory_.address(ref));
            }
        }
        step.group_count = static_cast<UINT>(dispatch.groups);
        step.groups_per_row = static_cast<UINT>(std::min(dispatch.groups, most_groups_per_row));
        step.rows = static_cast<UINT>(rows);
        steps_.push_back(std::move(step));
    }
    find_waits(plan);
    return describe_views(plan);
}

void D3d12Executable::find_waits(const DispatchPlan& plan) {
    PendingAccesses pending;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        steps_[i].waits = pending.add(plan.dispatches[i], memory_);
    }
}

core::Result<void> D3d12Executable::describe_views(const DispatchPlan& plan) {
    std::size_t count = 0;
    for (const Dispatch& dispatch : plan.dispatches) {
        count += BoundBuffers(dispatch).table_size();
    }
    if (count == 0) {
        return {};
    }
    ID3D12Device& device = *device_->pipelines->device().Get();
    D3D12_DESCRIPTOR_HEAP_DESC desc{};
    desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    desc.NumDescriptors = static_cast<UINT>(count);
    desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    if (const HRESULT code = device.CreateDescriptorHeap(&desc, IID_PPV_ARGS(views_.GetAddressOf())); FAILED(code)) {
        return d3d12_error(fmt::format("no heap of {} descriptors", count), code);
    }
    auto [slot, views] = first_descriptor(*views_.Get());
    const UINT step_size = device.GetDescriptorHandleIncrementSize(desc.Type);
    for (std::size_t i = 0; i < plan.dispatches.size(); ++i) {
        const Dispatch& dispatch = plan.dispatches[i];
        const BoundBuffers bound(dispatch);
        if (bound.table_size() == 0) {
            continue;
        }
        steps_[i].views = views;
        for (const bool units : {false, true}) {
            if (units ? bound.has_units : bound.in_table) {
                for (const BufferRef& ref : dispatch.buffers) {
                    const auto view = view_of(memory_.segment(ref), units);
                    device.CreateUnorderedAccessView(memory_.segment(ref).buffer, nullptr, &view, slot);
                    slot.ptr += step_size;
                    views.ptr += step_size;
                }
            }
        }
    }
    return {};
}

core::Result<void> D3d12Executable::bind(std::span<const core::Tensor* const> inputs) {
    return memory_.bind(*device_, inputs);
}

core::Result<void> D3d12Executable::execute() {
    std::size_t next = 0;
    auto result = device_->commands->run_in_parts([&](ID3D12GraphicsCommandList& list) { return record(list, next); });
    if (result) {
        memory_.uploaded();
        device_time_ = device_->commands->measured();
    }
    return result;
}

bool D3d12Executable::record(ID3D12GraphicsCommandList& list, std::size_t& next) const {
    record_beginning(list, next);
    if (next == 0) {
        device_->commands->begin_timing(list);
    }
    std::size_t room = Commands::most_dispatches;
    record_some(list, next, room);
    if (next < steps_.size()) {
        return true;
    }
    device_->commands->end_timing(list);
    memory_.record_readback(list);
    return false;
}

core::Result<std::vector<std::chrono::nanoseconds>> D3d12Executable::execute_in_turn(std::span<Executable* const> turn,
                                                                                     std::size_t per_time) {
    std::vector<D3d12Executable*> own;
    for (Executable* each : turn) {
        own.push_back(static_cast<D3d12Executable*>(each));
        if (own.back()->memory_.upload_pending()) {
            if (auto executed = each->execute(); !executed) {
                return tl::unexpected(executed.error());
            }
        }
    }
    const auto result = run_in_turn({own.begin(), own.end()}, per_time);
    if (!result) {
        return tl::unexpected(result.error());
    }
    auto times = device_->commands->all_measured();
    if (times.size() != turn.size() / per_time) {
        return core::fail("the device has no timestamps");
    }
    for (std::chrono::nanoseconds& time : times) {
        time /= static_cast<std::int64_t>(per_time);
    }
    return times;
}

core::Result<void> D3d12Executable::run_in_turn(std::span<const D3d12Executable* const> turn, std::size_t per_time) {
    Commands& commands = *turn.front()->device_->commands;
    std::size_t execution = 0;
    std::size_t next = 0;
    return commands.run_in_parts([&](ID3D12GraphicsCommandList& list) {
        std::size_t room = Commands::most_dispatches;
        for (; execution < turn.size(); ++execution, next = 0) {
            const D3d12Executable& each = *turn[execution];
            // A group that is timed together begins a new list if it fits into one, but not into the rest of this one.
            const std::size_t steps = each.steps_.size() * (execution % per_time == 0 ? per_time : 1);
            if (next == 0 && room < Commands::most_dispatches && room < steps) {
                return true;
            }
            if (next == 0) {
                unordered_access_barrier(list);
                if (execution % per_time == 0) {
                    commands.begin_timing(list);
                }
            }
            each.record_some(list, next, room);
            if (next < each.steps_.size()) {
                return true;
            }
            if ((execution + 1) % per_time == 0) {
                commands.end_timing(list);
            }
        }
        return false;
    });
}

core::Result<void> D3d12Executable::read(std::span<core::Tensor* const> outputs) {
    return memory_.read(*device_, outputs);
}

core::Result<std::vector<std::chrono::nanoseconds>> D3d12Executable::time_nodes() {
    std::vector<NodeSteps> nodes = nodes_;
    if (nodes.empty()) {
        nodes.push_back({0, 0, steps_.size()});
    }
    if (auto room = device_->commands->make_room_for_spans(nodes.size()); !room) {
        return tl::unexpected(room.error());
    }
    std::size_t next = 0;
    auto result = device_->commands->run_in_parts([&](ID3D12GraphicsCommandList& list) {
        record_beginning(list, next);
        for (std::size_t count = 0; next < nodes.size() && count < Commands::most_dispatches; ++next) {
            const NodeSteps& node = nodes[next];
            unordered_access_barrier(list);
            device_->commands->begin_timing(list);
            record_steps(list, std::span(steps_).subspan(node.begin, node.end - node.begin));
            device_->commands->end_timing(list);
            count += node.end - node.begin;
        }
        if (next < nodes.size()) {
            return true;
        }
        memory_.record_readback(list);
        return false;
    });
    if (!result) {
        return tl::unexpected(result.error());
    }
    memory_.uploaded();
    const auto measured = device_->commands->all_measured();
    if (measured.size() != nodes.size()) {
        return core::fail("the device has no timestamps");
    }
    node_times_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        node_times_[nodes[i].node] = measured[i];
    }
    return node_times_;
}

void D3d12Executable::record_beginning(ID3D12GraphicsCommandList& list, std::size_t next) const {
    if (next == 0) {
        memory_.record_upload(list);
    } else {
        memory_.record_continuation(list);
    }
}

void D3d12Executable::record_some(ID3D12GraphicsCommandList& list, std::size_t& next, std::size_t& room) const {
    const std::size_t count = std::min(room, steps_.size() - next);
    record_steps(list, std::span(steps_).subspan(next, count));
    next += count;
    room -= count;
}

void D3d12Executable::record_steps(ID3D12GraphicsCommandList& list, std::span<const Step> steps) const {
    if (views_) {
        ID3D12DescriptorHeap* heap = views_.Get();
        list.SetDescriptorHeaps(1, &heap);
    }
    for (const Step& step : steps) {
        if (step.waits) {
            unordered_access_barrier(list);
        }
        list.SetComputeRootSignature(step.pipeline->root_signature.Get());
        list.SetPipelineState(step.pipeline->state.Get());
        list.SetComputeRoot32BitConstant(root_shape, step.groups_per_row, 0);
        list.SetComputeRoot32BitConstant(root_shape, step.group_count, 1);
        list.SetComputeRootConstantBufferView(root_parameters, step.parameters);
        for (std::size_t i = 0; i < step.buffers.size(); ++i) {
            list.SetComputeRootUnorderedAccessView(root_first_buffer + static_cast<UINT>(i), step.buffers[i]);
        }
        if (step.views.ptr != 0) {
            list.SetComputeRootDescriptorTable(root_first_buffer + static_cast<UINT>(step.buffers.size()), step.views);
        }
        list.Dispatch(step.groups_per_row, step.rows, 1);
    }
}

}  // namespace dmlconform::d3d12
