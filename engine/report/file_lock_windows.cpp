// Uses a mutex whose name contains the path, because folders cannot be locked.
#ifdef _WIN32

#include <fmt/format.h>
#include <windows.h>

#include <filesystem>
#include <functional>
#include <string_view>

#include "engine/report/file_lock.h"
#include "engine/report/output_file.h"

namespace dmlconform::report {

core::Result<FileLock> FileLock::take(const std::string& path) {
    const auto target = behind_links(path);
    if (!target) {
        return tl::unexpected(target.error());
    }
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(*target, error);
    const std::size_t number = std::hash<std::wstring_view>()((error ? *target : whole).native());
    const std::string name = fmt::format("Local\\dmlconform-{:016x}", number);
    const HANDLE mutex = CreateMutexA(nullptr, FALSE, name.c_str());
    if (mutex == nullptr) {
        return core::fail(fmt::format("{} cannot be locked: error {}", path, GetLastError()));
    }
    // If a process ended while holding it, ownership passes to the next one.
    WaitForSingleObject(mutex, INFINITE);
    return FileLock(reinterpret_cast<Handle>(mutex));
}

FileLock::~FileLock() {
    if (handle_ != none) {
        const HANDLE mutex = reinterpret_cast<HANDLE>(handle_);
        ReleaseMutex(mutex);
        CloseHandle(mutex);
    }
}

}  // namespace dmlconform::report

#endif
