// Counts processors by the affinity mask where the system has one, otherwise by the standard library.
#include "engine/core/hardware_threads.h"

#include <algorithm>
#include <thread>

#include "engine/core/counted.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace dmlconform::core {

unsigned hardware_threads() {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    // Fails on machines with more than 1024 processors, the capacity of cpu_set_t.
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    }
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

std::string hardware_threads_text() {
    return counted(hardware_threads(), "hardware thread");
}

}  // namespace dmlconform::core
