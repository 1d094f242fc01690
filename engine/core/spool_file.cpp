// Reads and writes parts of a temporary file.
#include "engine/core/spool_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/core/temporary_file.h"

namespace dmlconform::core {
namespace {

#ifdef _WIN32
int seek_to(std::FILE* file, std::uint64_t offset) {
    return _fseeki64(file, static_cast<long long>(offset), SEEK_SET);
}
#else
int seek_to(std::FILE* file, std::uint64_t offset) {
    return fseeko(file, static_cast<off_t>(offset), SEEK_SET);
}
#endif

tl::unexpected<Error> failed(const char* what) {
    return fail(fmt::format("a temporary file cannot be {}: {}", what, std::strerror(errno)),
                "is the folder for temporary files full?");
}

}  // namespace

Result<void> SpoolFile::seek(std::uint64_t offset) {
    if (seek_to(file_.get(), offset) != 0) {
        return failed("read");
    }
    at_end_ = false;
    return {};
}

Result<void> SpoolFile::append(std::string_view text) {
    if (text.empty()) {
        return {};
    }
    errno = 0;
    if (!file_) {
        file_.reset(open_temporary_file());
    }
    if (!file_ || (!at_end_ && seek_to(file_.get(), size_) != 0) ||
        std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
        return failed("written");
    }
    at_end_ = true;
    size_ += text.size();
    return {};
}

Result<void> SpoolFile::read(const std::function<Result<void>(std::string_view)>& take) {
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

Result<std::string> SpoolFile::read(std::uint64_t offset, std::size_t length) {
    std::string text(length, '\0');
    auto done = read(offset, std::span(text));
    return done ? Result<std::string>(std::move(text)) : tl::unexpected(std::move(done.error()));
}

Result<void> SpoolFile::read(std::uint64_t offset, std::span<char> to) {
    if (to.empty()) {
        return {};
    }
    errno = 0;
    // Buffered data may not fit the disk.
    if (at_end_ && std::fflush(file_.get()) != 0) {
        return failed("written");
    }
    if (auto there = seek(offset); !there) {
        return there;
    }
    if (std::fread(to.data(), 1, to.size(), file_.get()) != to.size()) {
        return failed("read");
    }
    return {};
}

}  // namespace dmlconform::core
