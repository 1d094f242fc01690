// Reads POSIX's clock of the process. MSVC has none: its clock() counts the time that passes.
#include "engine/core/processor_clock.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace dmlconform::core {

#ifdef CLOCK_PROCESS_CPUTIME_ID

namespace {

std::chrono::nanoseconds duration_of(const timespec& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::optional<std::chrono::nanoseconds> processor_time_of_this_process() {
    timespec time{};
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 ? std::optional(duration_of(time)) : std::nullopt;
}

bool has_exact_processor_clock() {
    timespec resolution{};
    return clock_getres(CLOCK_PROCESS_CPUTIME_ID, &resolution) == 0 &&
           duration_of(resolution) <= std::chrono::microseconds(1);
}

#else

std::optional<std::chrono::nanoseconds> processor_time_of_this_process() {
    return std::nullopt;
}

bool has_exact_processor_clock() {
    return false;
}

#endif

std::chrono::nanoseconds cost_of_processor_clock() {
    static const std::chrono::nanoseconds cost = [] {
        // The median: an interrupt may fall between two readings.
        std::array<std::chrono::nanoseconds, 101> costs{};
        for (std::chrono::nanoseconds& difference : costs) {
            const auto before = processor_time_of_this_process();
            const auto after = processor_time_of_this_process();
            difference = before && after ? *after - *before : std::chrono::nanoseconds(0);
        }
        const auto middle = costs.begin() + costs.size() / 2;
        std::nth_element(costs.begin(), middle, costs.end());
        return *middle;
    }();
    return cost;
}

}  // namespace dmlconform::core
