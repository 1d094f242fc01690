// Temporary files that Windows deletes when they are closed, and their memory by views.
#ifdef _WIN32
#include <fcntl.h>
#include <fmt/format.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "engine/core/temporary_file.h"

namespace dmlconform::core {

std::FILE* open_temporary_file() {
    static std::atomic<unsigned> counter{0};
    static const unsigned process = std::random_device{}();
    std::error_code error;
    const auto path = std::filesystem::temp_directory_path(error) / fmt::format("dmlconform-{}-{}", process, ++counter);
    const int descriptor =
        error ? -1
              : _wopen(path.c_str(),
                       _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT | _O_TEMPORARY | _O_SHORT_LIVED,
                       _S_IREAD | _S_IWRITE);
    std::FILE* file = descriptor < 0 ? nullptr : _fdopen(descriptor, "w+b");
    if (file == nullptr && descriptor >= 0) {
        _close(descriptor);
    }
    return file;
}

std::byte* map_temporary_file(std::size_t bytes) {
    std::FILE* const file = open_temporary_file();
    void* data = nullptr;
    if (file != nullptr) {
        const std::uint64_t size = bytes;
        const HANDLE mapping =
            CreateFileMappingW(reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file))), nullptr, PAGE_READWRITE,
                               static_cast<DWORD>(size >> 32), static_cast<DWORD>(size), nullptr);
        if (mapping != nullptr) {
            data = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, bytes);
            CloseHandle(mapping);
        }
        std::fclose(file);  // the view keeps the contents
    }
    if (data == nullptr) {
        throw std::runtime_error(fmt::format("a temporary file of {} MiB cannot be written", bytes >> 20));
    }
    return static_cast<std::byte*>(data);
}

void unmap_temporary_file(std::byte* data, std::size_t /*bytes*/) noexcept {
    UnmapViewOfFile(data);
}

void leave_memory(std::byte* data, std::size_t bytes) noexcept {
    // Removes the pages from the working set, because the memory is not locked.
    VirtualUnlock(data, bytes);
}

}  // namespace dmlconform::core
#endif
