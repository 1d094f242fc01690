// The system's way to say it, or the standard library's.
#include "engine/core/hardware_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace dmlconform::core {

unsigned hardware_threads() {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    // Fails where there are more processors than the set has room for, 1024.
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    }
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

std::string hardware_threads_text() {
    const unsigned threads = hardware_threads();
    return fmt::format("{} hardware thread{}", threads, threads == 1 ? "" : "s");
}

}  // namespace dmlconform::core
