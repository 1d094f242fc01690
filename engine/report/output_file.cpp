// Writing of whole files.
#include "engine/report/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;

core::Result<void> cannot_write(const std::string& path, const std::string& reason) {
    return core::fail(fmt::format("{} cannot be written: {}", path, reason),
                      "does the folder exist, and is it writable?");
}

core::Result<void> write_temporary(const std::string& path, const std::string& temporary, std::string_view content) {
    errno = 0;
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.close();
    if (!stream) {
        const std::string reason = std::strerror(errno);
        if (temporary != path) {  // a device is written in place, and stays
            std::error_code ignored;
            fs::remove(temporary, ignored);
        }
        return cannot_write(path, reason);
    }
    return {};
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
    auto written = write_temporary(path, temporary_name(path), "");
    if (written) {
        fs::remove(temporary_name(path), error);
    }
    return written;
}

core::Result<void> write_file(const std::string& path, std::string_view content) {
    if (is_special(path)) {
        return write_temporary(path, path, content);
    }
    const std::string temporary = temporary_name(path);
    if (auto written = write_temporary(path, temporary, content); !written) {
        return written;
    }
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) {
        std::error_code ignored;
        fs::remove(temporary, ignored);
        return cannot_write(path, error.message());
    }
    return {};
}

}  // namespace dmlconform::report
