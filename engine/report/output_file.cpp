// Writing of files.
#include "engine/report/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;

core::Result<void> cannot_write(const std::string& path, const std::string& reason) {
    return core::fail(fmt::format("{} cannot be written: {}", path, reason),
                      "does the folder exist, and is it writable?");
}

std::string temporary_name(const std::string& path) {
    return path + ".partial";
}

/// Devices and pipes can be written to, but not replaced. Links are written through: /dev/stdout is one, and what it
/// leads to may be a file.
bool is_special(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

core::Result<void> check_writable(const std::string& path) {
    errno = 0;
    std::error_code error;
    if (fs::is_directory(path, error)) {
        return cannot_write(path, "it is a folder");
    }
    if (is_special(path)) {
        // Pipes are not opened for a try: their readers would take the closing for the end.
        const bool writable =
            !fs::is_regular_file(path, error) || std::ofstream(path, std::ios::binary | std::ios::app);
        return writable ? core::Result<void>() : cannot_write(path, std::strerror(errno));
    }
    OutputFile trial;
    return trial.open(path);
}

OutputFile::~OutputFile() {
    if (stream_.is_open()) {
        stream_.close();
        if (written_ != path_) {
            std::error_code ignored;
            fs::remove(written_, ignored);
        }
    }
}

core::Result<void> OutputFile::checked() {
    return stream_ ? core::Result<void>() : cannot_write(path_, std::strerror(errno));
}

core::Result<void> OutputFile::open(const std::string& path) {
    path_ = path;
    written_ = is_special(path) ? path : temporary_name(path);
    errno = 0;
    stream_.open(written_, std::ios::binary | std::ios::trunc);
    return checked();
}

core::Result<void> OutputFile::write(std::string_view text) {
    errno = 0;
    stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
    return checked();
}

core::Result<void> OutputFile::commit() {
    errno = 0;
    stream_.flush();
    if (auto flushed = checked(); !flushed) {
        return flushed;
    }
    stream_.close();
    std::error_code error;
    if (written_ != path_) {
        fs::rename(written_, path_, error);
    }
    if (error) {
        std::error_code ignored;
        fs::remove(written_, ignored);
        return cannot_write(path_, error.message());
    }
    return {};
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

}  // namespace dmlconform::report
