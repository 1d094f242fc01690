// A lock for files that are read, changed and written: what another process of dmlconform writes in between would be
// lost.
//
// file_lock_posix.cpp and file_lock_windows.cpp define the members.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "engine/core/error.h"

namespace dmlconform::report {

/// Held as long as it lives. A path and a symbolic link to it have the same lock.
class FileLock {
public:
    /// Waits for others who have it. An error where the folder of the file cannot be used.
    [[nodiscard]] static core::Result<FileLock> take(const std::string& path);

    FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, none)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~FileLock();

private:
    /// A file descriptor, or a handle of Windows.
    using Handle = std::intptr_t;
    static constexpr Handle none = -1;

    explicit FileLock(Handle handle) : handle_(handle) {}

    Handle handle_;
};

}  // namespace dmlconform::report
