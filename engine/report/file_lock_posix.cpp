// Locks the folder: the file itself is replaced when it is written, and a separate lock file would remain.
#ifndef _WIN32

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/report/file_lock.h"
#include "engine/report/output_file.h"

namespace dmlconform::report {

core::Result<FileLock> FileLock::take(const std::string& path) {
    const auto target = behind_links(path);
    if (!target) {
        return tl::unexpected(target.error());
    }
    const std::string folder = target->has_parent_path() ? target->parent_path().string() : ".";
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return core::fail(fmt::format("the folder of {} cannot be opened: {}", path, std::strerror(errno)));
    }
    FileLock lock(descriptor);
    // Some network file systems do not support locks. Refusing to write would be worse.
    while (flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
    }
    return lock;
}

FileLock::~FileLock() {
    if (handle_ != none) {
        close(static_cast<int>(handle_));
    }
}

}  // namespace dmlconform::report

#endif
