// A lock for files that are read, changed and written, so that changes by another process of dmlconform are not lost.
//
// file_lock_posix.cpp and file_lock_windows.cpp define the members.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "engine/core/error.h"

namespace dmlconform::report {

/// Held during the lifetime of the object. A path and a symbolic link to it have the same lock.
class FileLock {
public:
    /// Waits until the lock is free. Fails if the file's folder cannot be accessed.
    [[nodiscard]] static core::Result<FileLock> take(const std::string& path);

    FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, none)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~FileLock();

private:
    /// A file descriptor, or a Windows handle.
    using Handle = std::intptr_t;
    static constexpr Handle none = -1;

    explicit FileLock(Handle handle) : handle_(handle) {}

    Handle handle_;
};

}  // namespace dmlconform::report
