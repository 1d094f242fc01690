// The command queue with a single command list and a fence.
#include "engine/d3d12/device/commands.h"

#include <fmt/format.h>

#include "engine/d3d12/device/buffer_pool.h"
#include "engine/d3d12/device/d3d12_error.h"

namespace dmlconform::d3d12 {
namespace {

constexpr D3D12_COMMAND_LIST_TYPE list_type = D3D12_COMMAND_LIST_TYPE_COMPUTE;

/// Limit for timed spans; nobody reads the times of a graph with more nodes.
constexpr std::size_t most_room = std::size_t{1} << 20;

}  // namespace

core::Result<std::unique_ptr<Commands>> Commands::create(ComPtr<ID3D12Device> device, std::chrono::seconds time_limit) {
    std::unique_ptr<Commands> commands(new Commands(time_limit));
    commands->device_ = std::move(device);
    if (const HRESULT code = commands->initialise(); FAILED(code)) {
        return d3d12_error("no command queue", code);
    }
    return commands;
}

HRESULT Commands::initialise() {
    D3D12_COMMAND_QUEUE_DESC queue_desc{};
    queue_desc.Type = list_type;
    HRESULT code = device_->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(queue_.GetAddressOf()));
    if (SUCCEEDED(code)) {
        code = device_->CreateCommandAllocator(list_type, IID_PPV_ARGS(allocator_.GetAddressOf()));
    }
    if (SUCCEEDED(code)) {
        code = device_->CreateCommandList(0, list_type, allocator_.Get(), nullptr, IID_PPV_ARGS(list_.GetAddressOf()));
    }
    if (SUCCEEDED(code)) {
        code = list_->Close();
    }
    if (SUCCEEDED(code)) {
        code = device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(fence_.GetAddressOf()));
    }
    if (SUCCEEDED(code)) {
        code = make_queries(most_spans);
    }
    // Some queues have no clock.
    if (SUCCEEDED(code) && FAILED(queue_->GetTimestampFrequency(&frequency_))) {
        frequency_ = 0;
    }
    return code;
}

HRESULT Commands::make_queries(UINT spans) {
    D3D12_QUERY_HEAP_DESC desc{};
    desc.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
    // One query at the beginning and one at the end of each span.
    desc.Count = 2 * spans;
    HRESULT code = device_->CreateQueryHeap(&desc, IID_PPV_ARGS(queries_.ReleaseAndGetAddressOf()));
    if (SUCCEEDED(code)) {
        code = create_buffer(*device_.Get(), Heap::readback, desc.Count * sizeof(UINT64), ticks_);
    }
    void* mapped = nullptr;
    if (SUCCEEDED(code)) {
        code = ticks_->Map(0, nullptr, &mapped);
    }
    mapped_ticks_ = static_cast<const UINT64*>(mapped);
    room_ = SUCCEEDED(code) ? spans : 0;
    spans_ = 0;
    return code;
}

core::Result<void> Commands::make_room_for_spans(std::size_t count) {
    if (count <= room_) {
        return {};
    }
    if (count > most_room) {
        return core::fail(fmt::format("{} times are too many to measure at once", count));
    }
    const HRESULT code = make_queries(static_cast<UINT>(count));
    return SUCCEEDED(code) ? core::Result<void>() : d3d12_error(fmt::format("no room for {} times", count), code);
}

core::Result<void> Commands::run(const std::function<void(ID3D12GraphicsCommandList& list)>& record) {
    return run_in_parts([&](ID3D12GraphicsCommandList& list) {
        record(list);
        return false;
    });
}

core::Result<void> Commands::run_in_parts(const std::function<bool(ID3D12GraphicsCommandList& list)>& record) {
    recorded_spans_ = 0;
    for (bool has_more = true; has_more && !lost_;) {
        const HRESULT code = submit(record, has_more);
        const auto result = SUCCEEDED(code) ? wait() : d3d12_error("commands could not be submitted", code);
        if (!result) {
            lost_ = result.error();
        }
    }
    return lost_ ? tl::unexpected(*lost_) : core::Result<void>();
}

HRESULT Commands::submit(const std::function<bool(ID3D12GraphicsCommandList& list)>& record, bool& has_more) {
    HRESULT code = allocator_->Reset();
    if (SUCCEEDED(code)) {
        code = list_->Reset(allocator_.Get(), nullptr);
    }
    if (SUCCEEDED(code)) {
        has_more = record(*list_.Get());
        if (recorded_spans_ != 0 && !has_more) {
            spans_ = recorded_spans_;
            list_->ResolveQueryData(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 2 * spans_, ticks_.Get(), 0);
        }
        code = list_->Close();
    }
    if (SUCCEEDED(code)) {
        ID3D12CommandList* lists[] = {list_.Get()};
        queue_->ExecuteCommandLists(1, lists);
        code = queue_->Signal(fence_.Get(), ++submitted_);
    }
    return code;
}

core::Result<void> Commands::wait() {
    const HRESULT waited = event_.wait(*fence_.Get(), submitted_, time_limit_);
    if (FAILED(waited)) {
        return d3d12_error("the device could not be waited for", waited);
    }
    if (waited == S_FALSE) {
        hung_ = true;
        return core::fail(fmt::format("the device did not finish within {} seconds", time_limit_.count()),
                          recent_diagnostics());
    }
    if (const HRESULT removed = device_->GetDeviceRemovedReason(); FAILED(removed)) {
        return d3d12_error("the device was removed", removed);
    }
    return {};
}

void Commands::begin_timing(ID3D12GraphicsCommandList& list) {
    if (recorded_spans_ < room_) {
        list.EndQuery(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 2 * recorded_spans_);
    }
}

void Commands::end_timing(ID3D12GraphicsCommandList& list) {
    if (recorded_spans_ < room_) {
        list.EndQuery(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 2 * recorded_spans_ + 1);
        ++recorded_spans_;
    }
}

std::vector<std::chrono::nanoseconds> Commands::all_measured() const {
    std::vector<std::chrono::nanoseconds> times;
    for (UINT i = 0; i < spans_ && frequency_ != 0; ++i) {
        const UINT64 begin = mapped_ticks_[2 * i];
        const UINT64 end = mapped_ticks_[2 * i + 1];
        if (end < begin) {
            return {};
        }
        const double seconds = static_cast<double>(end - begin) / static_cast<double>(frequency_);
        times.emplace_back(static_cast<std::int64_t>(seconds * 1e9));
    }
    return times;
}

std::optional<std::chrono::nanoseconds> Commands::measured() const {
    const auto times = all_measured();
    return times.empty() ? std::nullopt : std::optional(times.back());
}

}  // namespace dmlconform::d3d12
