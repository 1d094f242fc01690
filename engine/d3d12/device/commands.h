// Records and submits commands and waits for them, one list at a time. Measures spans with the device's clock.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/error.h"
#include "engine/d3d12/device/d3d12_headers.h"
#include "engine/d3d12/device/platform.h"

namespace dmlconform::d3d12 {

/// A queue of the device. Not thread-safe.
class Commands {
public:
    /// If a submission takes longer than `time_limit`, the device is considered to hang.
    [[nodiscard]] static core::Result<std::unique_ptr<Commands>> create(ComPtr<ID3D12Device> device,
                                                                        std::chrono::seconds time_limit);

    /// Records commands by `record`, submits them, and waits until the device is done. After a failure the device is
    /// lost, and all later runs fail.
    [[nodiscard]] core::Result<void> run(const std::function<void(ID3D12GraphicsCommandList& list)>& record);

    /// The same with several lists, each of which is done before the next is recorded: `record` returns true if there
    /// is more to record.
    [[nodiscard]] core::Result<void> run_in_parts(const std::function<bool(ID3D12GraphicsCommandList& list)>& record);

    /// The number of dispatches that a list should have at most: drivers keep up to 4 KB of memory for each.
    static constexpr std::size_t most_dispatches = 4096;

    /// The number of spans that are measured in one run. Further spans are ignored, unless room is made for them.
    static constexpr UINT most_spans = 32;
    [[nodiscard]] core::Result<void> make_room_for_spans(std::size_t count);

    /// Measures the commands that are recorded between these two calls.
    void begin_timing(ID3D12GraphicsCommandList& list);
    void end_timing(ID3D12GraphicsCommandList& list);

    /// The times of all spans in the last run that had any. Empty if the device has no clock.
    [[nodiscard]] std::vector<std::chrono::nanoseconds> all_measured() const;

    /// The last of these times.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> measured() const;

    /// True after a failure.
    [[nodiscard]] bool lost() const { return lost_.has_value(); }

    /// True if the device may still be executing a submission. Then nothing that it uses may be released.
    [[nodiscard]] bool hung() const { return hung_; }

private:
    explicit Commands(std::chrono::seconds time_limit) : time_limit_(time_limit) {}
    [[nodiscard]] HRESULT initialise();
    [[nodiscard]] HRESULT make_queries(UINT spans);
    [[nodiscard]] HRESULT submit(const std::function<bool(ID3D12GraphicsCommandList& list)>& record, bool& has_more);
    [[nodiscard]] core::Result<void> wait();

    ComPtr<ID3D12Device> device_;
    ComPtr<ID3D12CommandQueue> queue_;
    ComPtr<ID3D12CommandAllocator> allocator_;
    ComPtr<ID3D12GraphicsCommandList> list_;
    ComPtr<ID3D12Fence> fence_;
    ComPtr<ID3D12QueryHeap> queries_;
    ComPtr<ID3D12Resource> ticks_;
    FenceEvent event_;
    const UINT64* mapped_ticks_ = nullptr;
    UINT64 frequency_ = 0;
    /// The number of spans that the queries have room for.
    UINT room_ = 0;
    /// The number of spans in the last run that had any, and in the one that is being recorded.
    UINT spans_ = 0;
    UINT recorded_spans_ = 0;
    UINT64 submitted_ = 0;
    std::chrono::seconds time_limit_;
    std::optional<core::Error> lost_;
    bool hung_ = false;
};

}  // namespace dmlconform::d3d12
