// Temporary files by the C library. On Windows, that would use the root folder, so the files are named here.
#include "engine/report/spool_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#ifdef _WIN32
#include <atomic>
#include <filesystem>
#include <random>

#include "engine/report/new_file.h"
#endif

namespace dmlconform::report {
namespace {

#ifdef _WIN32
std::FILE* open_temporary() {
    static std::atomic<unsigned> counter{0};
    static const unsigned process = std::random_device{}();
    std::error_code error;
    const auto path = std::filesystem::temp_directory_path(error) / fmt::format("dmlconform-{}-{}", process, ++counter);
    return error ? nullptr : make_passing_file(path).release();
}

int seek_to(std::FILE* file, std::uint64_t offset) {
    return _fseeki64(file, static_cast<long long>(offset), SEEK_SET);
}
#else
std::FILE* open_temporary() {
    return std::tmpfile();
}

int seek_to(std::FILE* file, std::uint64_t offset) {
    return fseeko(file, static_cast<off_t>(offset), SEEK_SET);
}
#endif

tl::unexpected<core::Error> failed(const char* what) {
    return core::fail(fmt::format("a temporary file cannot be {}: {}", what, std::strerror(errno)),
                      "is the folder for temporary files full?");
}

}  // namespace

core::Result<void> SpoolFile::seek(std::uint64_t offset) {
    if (seek_to(file_.get(), offset) != 0) {
        return failed("read");
    }
    at_end_ = false;
    return {};
}

core::Result<void> SpoolFile::append(std::string_view text) {
    if (text.empty()) {
        return {};
    }
    errno = 0;
    if (!file_) {
        file_.reset(open_temporary());
    }
    if (!file_ || (!at_end_ && seek_to(file_.get(), size_) != 0) ||
        std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
        return failed("written");
    }
    at_end_ = true;
    size_ += text.size();
    return {};
}

core::Result<void> SpoolFile::read(const std::function<core::Result<void>(std::string_view)>& take) {
    constexpr std::size_t piece = 65536;
    for (std::uint64_t offset = 0; offset < size_; offset += piece) {
        const auto text = read(offset, static_cast<std::size_t>(std::min<std::uint64_t>(piece, size_ - offset)));
        if (!text) {
            return tl::unexpected(text.error());
        }
        if (auto taken = take(*text); !taken) {
            return taken;
        }
    }
    return {};
}

core::Result<std::string> SpoolFile::read(std::uint64_t offset, std::size_t length) {
    std::string text(length, '\0');
    if (length == 0) {
        return text;
    }
    errno = 0;
    // Buffered data may not fit the disk.
    if (at_end_ && std::fflush(file_.get()) != 0) {
        return failed("written");
    }
    if (auto there = seek(offset); !there) {
        return tl::unexpected(there.error());
    }
    if (std::fread(text.data(), 1, length, file_.get()) != length) {
        return failed("read");
    }
    return text;
}

}  // namespace dmlconform::report
