// Whether repetitions of a benchmark measured one thing.
#pragma once

#include <span>

namespace dmlconform::bench {

/// The counter that marks a benchmark in files.
inline constexpr const char* unsettled_counter = "unsettled";

/// Who timed the repetitions: the device by its own clock, which nobody else's work disturbs, or this machine.
enum class TimedBy { device, host };

/// Whether the times of repetitions, in their order, drift in one direction: the clock rate of a device that was idle
/// rises, that of one that is too hot falls, and neither the median nor any other number of them is the time of the
/// operator. On a device's clock one repetition that is 5 % off is enough. Never of fewer than four.
[[nodiscard]] bool is_unsettled(std::span<const double> seconds, TimedBy timed_by);

}  // namespace dmlconform::bench
