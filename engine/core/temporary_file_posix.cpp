// Temporary files by O_TMPFILE or mkstemp, and their memory by mmap.
#ifndef _WIN32
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "engine/core/temporary_file.h"

namespace dmlconform::core {
namespace {

/// Reserves room, because a write to mapped memory beyond the end of the disk would end the program.
int reserve(int descriptor, std::size_t bytes) {
    const auto size = static_cast<off_t>(bytes);
#ifdef __APPLE__
    return ftruncate(descriptor, size) == 0 ? 0 : errno;
#else
    return posix_fallocate(descriptor, 0, size);
#endif
}

}  // namespace

/// In the folder that TMPDIR names, which std::tmpfile does not look at. The file has no name from the start, or loses
/// it here.
std::FILE* open_temporary_file() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    if (error) {
        errno = error.value();
        return nullptr;
    }
    int descriptor = -1;
#ifdef O_TMPFILE
    descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
#endif
    if (descriptor < 0) {
        std::string name = (folder / "dmlconform-XXXXXX").string();
        descriptor = mkstemp(name.data());
        if (descriptor >= 0) {
            fcntl(descriptor, F_SETFD, FD_CLOEXEC);
            unlink(name.c_str());
        }
    }
    std::FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "w+b");
    if (file == nullptr && descriptor >= 0) {
        close(descriptor);
    }
    return file;
}

std::byte* map_temporary_file(std::size_t bytes) {
    errno = 0;
    std::FILE* const file = open_temporary_file();
    int problem = file == nullptr ? errno : reserve(fileno(file), bytes);
    void* data = MAP_FAILED;
    if (problem == 0) {
        data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        problem = data == MAP_FAILED ? errno : 0;
    }
    if (file != nullptr) {
        std::fclose(file);  // the mapping keeps the contents
    }
    if (problem != 0) {
        throw std::runtime_error(
            fmt::format("a temporary file of {} MiB cannot be written: {}", bytes >> 20, std::strerror(problem)));
    }
    return static_cast<std::byte*>(data);
}

void unmap_temporary_file(std::byte* data, std::size_t bytes) noexcept {
    munmap(data, bytes);
}

void leave_memory(std::byte* data, std::size_t bytes) noexcept {
    madvise(data, bytes, MADV_DONTNEED);
}

}  // namespace dmlconform::core
#endif
