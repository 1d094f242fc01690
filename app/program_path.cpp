// Finds the program's path on each system.
#include "app/program_path.h"

#include <filesystem>

#ifdef _WIN32
#include <windows.h>

#include <array>
#endif

namespace dmlconform::app {

std::string program_path(const std::string& called_as) {
#ifdef _WIN32
    std::array<wchar_t, 32768> path{};
    const DWORD length = GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
    return length == 0 || length == path.size() ? called_as
                                                : std::filesystem::path(path.data(), path.data() + length).string();
#else
    std::error_code error;
    const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? called_as : path.string();
#endif
}

}  // namespace dmlconform::app
