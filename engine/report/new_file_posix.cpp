// Opens files by open(2), and replaces them by rename(2).
#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "engine/report/new_file.h"

namespace dmlconform::report {
namespace {

/// Converts a descriptor to a file for writing; closes it on failure.
File writable(int descriptor) {
    if (descriptor < 0) {
        return nullptr;
    }
    File file(fdopen(descriptor, "wb"));
    if (!file) {
        const int reason = errno;
        close(descriptor);
        errno = reason;
    }
    return file;
}

/// The descriptor of standard output or standard error if the path refers to its file, otherwise -1. Not for devices,
/// which can be opened again.
int standard_stream_at(const std::filesystem::path& path) {
    if (path == standard_output_path) {
        return STDOUT_FILENO;
    }
    struct stat there {};
    if (stat(path.c_str(), &there) != 0 || S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode)) {
        return -1;
    }
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat open_one {};
        if (fstat(number, &open_one) == 0 && open_one.st_dev == there.st_dev && open_one.st_ino == there.st_ino) {
            return number;
        }
    }
    return -1;
}

/// Opens an existing file. Opening a pipe without a reader would block forever, even if a signal is caught, so it is
/// tried for a few seconds.
int open_with_patience(const std::filesystem::path& path) {
    constexpr auto patience = std::chrono::seconds(5);
    constexpr auto pause = std::chrono::milliseconds(10);
    const auto end = std::chrono::steady_clock::now() + patience;
    int descriptor = -1;
    // Opening a pipe without a reader in non-blocking mode fails with ENXIO.
    while ((descriptor = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0 &&
           errno == ENXIO && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(pause);
        errno = ENXIO;
    }
    if (descriptor >= 0) {
        (void)fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    }
    return descriptor;
}

}  // namespace

File make_new_file(const std::filesystem::path& path) {
    return writable(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

File make_or_empty_file(const std::filesystem::path& path) {
    return File(std::fopen(path.c_str(), "wb"));
}

File make_nameless_file([[maybe_unused]] const std::filesystem::path& folder) {
#ifdef O_TMPFILE
    return writable(open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
#else
    return nullptr;
#endif
}

std::error_code replace_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::error_code error;
    std::filesystem::rename(from, to, error);
    return error;
}

bool is_standard_stream(const std::filesystem::path& path) {
    return standard_stream_at(path) >= 0;
}

File open_in_place(const std::filesystem::path& path) {
    if (const int number = standard_stream_at(path); number >= 0) {
        std::fflush(number == STDOUT_FILENO ? stdout : stderr);
        return writable(fcntl(number, F_DUPFD_CLOEXEC, 3));
    }
    return writable(open_with_patience(path));
}

}  // namespace dmlconform::report

#endif
