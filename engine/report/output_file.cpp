// Writes files.
#include "engine/report/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;

/// Advice for an error of the system; empty if there is none.
std::string hint_for(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return "does the folder exist?";
        case EACCES:
        case EPERM:
        case EROFS:
            return "is the folder writable?";
        case ENOSPC:
            return "the disk is full: free some space, or write to another one";
        case EFBIG:
            return "the limit on the size of files is reached (ulimit -f), or the file system takes no larger file";
#ifdef EDQUOT
        case EDQUOT:
            return "your quota of the disk is used up: free some space, or write to another one";
#endif
        case EMFILE:
        case ENFILE:
            return "too many files are open (ulimit -n)";
        default:
            return "can a file be made there?";
    }
}

tl::unexpected<core::Error> cannot_write(const std::string& path, const std::string& reason, const std::string& hint) {
    return core::fail(fmt::format("{} cannot be written: {}", file_in_messages(path), reason), hint);
}

tl::unexpected<core::Error> cannot_write(const std::string& path, int error) {
    return cannot_write(path, std::strerror(error), hint_for(error));
}

/// The name need not be unpredictable, because the file is only created if nothing of that name exists.
fs::path temporary_name(const fs::path& target) {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32u) | random();
    return target.parent_path() / fmt::format(".dmlconform-{:016x}.partial", number);
}

/// True for links such as /proc/self/fd/3 and /dev/fd/3. What they refer to is written in place, because a process
/// holds it open.
bool is_descriptor(const fs::path& link) {
    std::error_code error;
    const std::string folder = fs::canonical(link.has_parent_path() ? link.parent_path() : ".", error).generic_string();
    return !error && (folder.starts_with("/proc/") || folder.starts_with("/dev/fd"));
}

/// Where a file is written: a replaceable path, or a file that must be written in place.
struct Target {
    fs::path path;
    bool in_place = false;
};

core::Result<Target> target_of(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        return cannot_write(path, "it is a folder", "name a file in it");
    }
    const fs::file_status status = fs::status(path, error);
    if ((fs::exists(status) && !fs::is_regular_file(status)) || is_standard_stream(path)) {
        return Target{path, true};
    }
    constexpr int most_links = 40;
    fs::path target = path;
    for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
        if (is_descriptor(target)) {
            return Target{path, true};
        }
        const fs::path next = fs::read_symlink(target, error);
        if (error || links == most_links) {
            return cannot_write(path, error ? error.message() : "too many symbolic links lead from one to the next",
                                "name the file itself");
        }
        target = target.parent_path() / next;  // this is `next` if it is absolute
    }
    return Target{target, false};
}

/// Makes a second attempt with another name; a third one is never needed.
File make_beside(const fs::path& target, fs::path& name) {
    constexpr int most_tries = 10;
    File file;
    for (int i = 0; !file && i < most_tries; ++i) {
        name = temporary_name(target);
        errno = 0;
        file = make_new_file(name);
        if (!file && errno != EEXIST) {
            break;
        }
    }
    return file;
}

/// Copies the permissions of a file that is replaced.
void keep_permissions(const fs::path& target, const fs::path& written) {
    std::error_code ignored;
    if (const fs::file_status status = fs::status(target, ignored); fs::is_regular_file(status)) {
        fs::permissions(written, status.permissions(), ignored);
    }
}

}  // namespace

core::Result<void> check_writable(const std::string& path) {
    const auto target = target_of(path);
    if (!target) {
        return tl::unexpected(target.error());
    }
    // Pipes are not opened for the test: their readers would take closing for the end of the data.
    if (target->in_place) {
        return {};
    }
    // Signals are not handled yet, so a test file with a name could remain.
    if (make_nameless_file(target->path.parent_path())) {
        return {};
    }
    OutputFile trial;
    return trial.open(path);
}

core::Result<fs::path> behind_links(const std::string& path) {
    auto target = target_of(path);
    return target ? core::Result<fs::path>(std::move(target->path)) : tl::unexpected(target.error());
}

OutputFile::~OutputFile() {
    remove();
}

void OutputFile::remove() {
    if (file_) {
        file_.reset();
        if (written_ != path_) {
            std::error_code ignored;
            fs::remove(written_, ignored);
        }
        partial_ = PartialFile();
    }
}

core::Result<void> OutputFile::open(const std::string& path) {
    remove();
    path_ = path;
    auto target = target_of(path);
    if (!target) {
        return tl::unexpected(target.error());
    }
    target_ = std::move(target->path);
    errno = 0;
    if (target->in_place) {
        written_ = path;
        file_ = open_in_place(path);
    } else {
        file_ = make_beside(target_, written_);
        const int reason = errno;
        partial_ = file_ ? PartialFile(written_) : PartialFile();
        errno = reason;
    }
    return file_ ? core::Result<void>() : cannot_write(path_, errno);
}

core::Result<void> OutputFile::write(std::string_view text) {
    errno = 0;
    return std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() ? core::Result<void>()
                                                                                : cannot_write(path_, errno);
}

core::Result<void> OutputFile::commit() {
    errno = 0;
    if (std::fflush(file_.get()) != 0) {
        return cannot_write(path_, errno);
    }
    const bool in_place = written_ == path_;
    if (!in_place) {
        keep_permissions(target_, written_);
    }
    // Some file systems report only now that the disk is full.
    std::error_code error;
    if (std::fclose(file_.release()) != 0) {
        error.assign(errno, std::generic_category());
    } else if (!in_place) {
        error = replace_file(written_, target_);
    }
    if (error && !in_place) {
        std::error_code ignored;
        fs::remove(written_, ignored);
    }
    partial_ = PartialFile();
    return error ? cannot_write(path_, error.message(), hint_for(error.default_error_condition().value()))
                 : core::Result<void>();
}

core::Result<void> write_file(const std::string& path, std::string_view content) {
    OutputFile file;
    auto done = file.open(path);
    if (done) {
        done = file.write(content);
    }
    if (done) {
        done = file.commit();
    }
    return done;
}

core::Result<void> append_to_file(const std::string& path, std::string_view content) {
    const auto target = target_of(path);
    if (!target) {
        return tl::unexpected(target.error());
    }
    if (target->in_place && (path == standard_output_path || !fs::is_regular_file(path))) {
        return write_file(path, content);
    }
    errno = 0;
    std::ofstream stream(fs::path(path), std::ios::binary | std::ios::app);
    stream << content;
    stream.close();
    return stream ? core::Result<void>() : cannot_write(path, errno);
}

}  // namespace dmlconform::report
