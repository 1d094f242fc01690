// Decides whether the repetitions of a benchmark have settled.
#pragma once

#include <span>

namespace dmlconform::bench {

/// The counter that marks unsettled benchmarks in files.
inline constexpr const char* unsettled_counter = "unsettled";

/// A benchmark whose repetitions have a larger spread is noisy: `compare` finds 5 % by default.
inline constexpr double noisy_spread = 0.05;

/// Who timed the repetitions: the device by its own clock, which nobody else's work disturbs, or this machine.
enum class TimedBy { device, host };

/// True if the times of repetitions drift in one direction. The clock rate of an idle device rises, that of a hot
/// device falls, and then no statistic of the times is meaningful. By a device's clock, one repetition that is 5 % off
/// is sufficient. False for fewer than four.
[[nodiscard]] bool is_unsettled(std::span<const double> seconds, TimedBy timed_by);

}  // namespace dmlconform::bench
