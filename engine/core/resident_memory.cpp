// Asks the operating system.
#include "engine/core/resident_memory.h"

#ifdef _WIN32
#include <windows.h>
// It needs the types of windows.h.
#include <psapi.h>
#else
#include <unistd.h>

#include <fstream>
#endif

namespace dmlconform::core {

std::uint64_t resident_memory() {
#ifdef _WIN32
    PROCESS_MEMORY_COUNTERS counters{};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) != 0 ? counters.WorkingSetSize : 0;
#else
    // Its first number is the address space, the second one what of it is in memory.
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    const long page = sysconf(_SC_PAGESIZE);
    return statm >> pages >> pages && page > 0 ? pages * static_cast<std::uint64_t>(page) : 0;
#endif
}

}  // namespace dmlconform::core
