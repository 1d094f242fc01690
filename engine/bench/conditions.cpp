// Times the yardstick, and reads the scheduler's statistics.
#include "engine/bench/conditions.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <vector>

namespace dmlconform::bench {
namespace {

/// 128 KiB: more than a first-level cache holds, and less than a second-level cache.
constexpr std::size_t yardstick_elements = 32768;
/// About a tenth of a millisecond together. The first pass fetches the array and is not timed.
constexpr int yardstick_passes = 12;

std::chrono::duration<double> thread_time() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec time{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }
#endif
    return std::chrono::steady_clock::now().time_since_epoch();
}

void pass_over(std::vector<float>& values) {
    for (float& value : values) {
        value = value * 0.5F + 1.0F;
    }
    // The compiler must not merge passes.
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

std::chrono::duration<double> measure_yardstick() {
    thread_local std::vector<float> values(yardstick_elements, 1.0F);
    pass_over(values);
    const auto start = thread_time();
    for (int i = 0; i < yardstick_passes; ++i) {
        pass_over(values);
    }
    return thread_time() - start;
}

Conditions::Conditions(const Engine& engine, bool waits)
    : other_process_(dynamic_cast<const ProcessorMeasurements*>(&engine)),
      in_this_process_(!engine.info().in_own_process),
      waits_(waits),
      yardstick_(measure_yardstick()),
      before_(use()),
      begun_(std::chrono::steady_clock::now()) {}

std::optional<core::ProcessorUse> Conditions::use() const {
    if (!waits_) {
        return std::nullopt;
    }
    if (other_process_ != nullptr) {
        return other_process_->processor_use();
    }
    return in_this_process_ ? core::processor_use_of_this_thread() : std::nullopt;
}

Conditions::Reading Conditions::read() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
    const auto after = use();
    Reading reading;
    if (before_ && after && passed.count() > 0) {
        const std::chrono::duration<double> waited = after->waited - before_->waited;
        reading.waited = std::clamp(waited / passed, 0.0, 1.0);
    }
    // The smaller one: after an interruption, the caches are cold, which says nothing about the processor's speed.
    reading.yardstick = std::min(yardstick_, measure_yardstick()).count();
    return reading;
}

}  // namespace dmlconform::bench
