// Recording commands, submitting them and waiting, one list at a time; and the device's clock around them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/error.h"
#include "engine/d3d12/d3d12_headers.h"
#include "engine/d3d12/platform.h"

namespace dmlconform::d3d12 {

/// A queue of the device. Not to be used by two threads at once.
class Commands {
public:
    /// A device that takes longer than `time_limit` for what it is given at once is taken to hang.
    [[nodiscard]] static core::Result<std::unique_ptr<Commands>> create(ComPtr<ID3D12Device> device,
                                                                        std::chrono::seconds time_limit);

    /// Records what `record` does to the list, submits it, and returns when the device is done. After a failure the
    /// device is lost, and so is every later run.
    [[nodiscard]] core::Result<void> run(const std::function<void(ID3D12GraphicsCommandList& list)>& record);

    /// The most spans that are measured in one run; what is beyond is not.
    static constexpr UINT most_spans = 32;

    /// For use while recording: what lies between the two is measured.
    void begin_timing(ID3D12GraphicsCommandList& list);
    void end_timing(ID3D12GraphicsCommandList& list);

    /// The time between begin_timing and end_timing, each time that they were called in the last run that did so. Empty
    /// where the device has no clock.
    [[nodiscard]] std::vector<std::chrono::nanoseconds> all_measured() const;

    /// The last of them.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> measured() const;

    /// True after a failure.
    [[nodiscard]] bool lost() const { return lost_.has_value(); }

    /// True when the device may still be at work on what it was given: nothing it uses may be released.
    [[nodiscard]] bool hung() const { return hung_; }

private:
    explicit Commands(std::chrono::seconds time_limit) : time_limit_(time_limit) {}
    [[nodiscard]] HRESULT initialise();
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
    /// Spans of the last run that had any, and of the one that is being recorded.
    UINT spans_ = 0;
    UINT recorded_spans_ = 0;
    UINT64 submitted_ = 0;
    std::chrono::seconds time_limit_;
    std::optional<core::Error> lost_;
    bool hung_ = false;
};

}  // namespace dmlconform::d3d12
