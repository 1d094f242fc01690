// The clock that counts the processor time of this process.
#pragma once

#include <chrono>
#include <optional>

namespace dmlconform::core {

/// Processor time of this process, in all threads together. Empty if the system does not tell.
[[nodiscard]] std::optional<std::chrono::nanoseconds> processor_time_of_this_process();

/// Whether the clock counts every microsecond. On Windows, it counts ticks of 16 ms.
[[nodiscard]] bool has_exact_processor_clock();

/// How long reading the clock takes, in processor time. 0 if there is no clock.
[[nodiscard]] std::chrono::nanoseconds cost_of_processor_clock();

}  // namespace dmlconform::core
