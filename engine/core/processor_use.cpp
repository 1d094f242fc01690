// Reads the scheduler's statistics. Linux: Documentation/scheduler/sched-stats.rst describes /proc/<pid>/schedstat.
#include "engine/core/processor_use.h"

#ifdef __linux__
#include <fmt/format.h>
#include <sys/types.h>

#include <ctime>
#include <fstream>
#include <string>
#endif

namespace dmlconform::core {

#ifdef __linux__

namespace {

std::optional<ProcessorUse> read_statistics(const std::string& path) {
    std::ifstream file(path);
    std::int64_t used = 0;
    std::int64_t waited = 0;
    if (!(file >> used >> waited)) {
        return std::nullopt;
    }
    return ProcessorUse{std::chrono::nanoseconds(used), std::chrono::nanoseconds(waited)};
}

}  // namespace

std::optional<ProcessorUse> processor_use_of_this_thread() {
    return read_statistics("/proc/thread-self/schedstat");
}

std::optional<ProcessorUse> processor_use_of_process(std::int64_t process) {
    auto use = read_statistics(fmt::format("/proc/{}/schedstat", process));
    clockid_t clock{};
    timespec time{};
    if (!use || clock_getcpuclockid(static_cast<pid_t>(process), &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return std::nullopt;
    }
    // Counts all threads, and is not as old as the last tick.
    use->used = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    return use;
}

#else

std::optional<ProcessorUse> processor_use_of_this_thread() {
    return std::nullopt;
}

std::optional<ProcessorUse> processor_use_of_process(std::int64_t /*process*/) {
    return std::nullopt;
}

#endif

}  // namespace dmlconform::core
