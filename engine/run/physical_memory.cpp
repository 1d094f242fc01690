// Asks the operating system for the size of the physical memory.
#include "engine/run/physical_memory.h"

#include <limits>

#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace dmlconform::run {

std::uint64_t physical_memory() {
    constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
#ifdef _WIN32
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    return GlobalMemoryStatusEx(&status) != 0 ? status.ullTotalPhys : unknown;
#else
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : unknown;
#endif
}

}  // namespace dmlconform::run
