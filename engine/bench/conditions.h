// What disturbs benchmarks on this machine while they run: a processor that is slower than usual, and other processes.
#pragma once

#include <chrono>
#include <optional>

#include "engine/core/processor_use.h"
#include "engine/engine.h"
#include "engine/processor_measurements.h"

namespace dmlconform::bench {

/// Counters of repetitions in files. `yardstick`: processor seconds that a fixed piece of work took beside the
/// repetition. `waited`: the share of the time in which the benchmark was ready to run and waited for a processor.
inline constexpr const char* yardstick_counter = "yardstick";
inline constexpr const char* waited_counter = "waited";

/// A benchmark that waits longer is disturbed by other processes.
inline constexpr double disturbing_wait = 0.05;
/// If the yardstick's times differ by more, the processor's speed has changed.
inline constexpr double disturbing_speed = 0.1;

/// Does the fixed piece of work once: multiply-adds on an array that fits into the second-level cache. A lower clock
/// rate slows it down, and so does work of others on the same core, or on what cores share. Returns the processor time
/// of this thread, or the wall-clock time where the system does not tell that.
[[nodiscard]] std::chrono::duration<double> measure_yardstick();

/// The conditions during one repetition. Created before it, and read after it.
class Conditions {
public:
    /// `waits`: whether waiting for a processor lengthens the times.
    Conditions(const Engine& engine, bool waits);

    struct Reading {
        double yardstick = 0;
        std::optional<double> waited;
    };
    [[nodiscard]] Reading read() const;

private:
    [[nodiscard]] std::optional<core::ProcessorUse> use() const;

    /// Null for engines in this process.
    const ProcessorMeasurements* other_process_;
    bool in_this_process_;
    bool waits_;
    std::chrono::duration<double> yardstick_;
    std::optional<core::ProcessorUse> before_;
    std::chrono::steady_clock::time_point begun_;
};

}  // namespace dmlconform::bench
