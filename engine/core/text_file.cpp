// Reading of files, with checks of type and size before memory is allocated.
#include "engine/core/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace dmlconform::core {

namespace fs = std::filesystem;

namespace {

#ifdef _WIN32
constexpr int most_tries = 50;
#else
constexpr int most_tries = 1;
#endif

/// Calls is_denied() again for a while if it returns true. On Windows, files cannot be opened in the instant in which
/// another process replaces them.
template <class IsDenied>
void try_patiently(const IsDenied& is_denied) {
    for (int i = 1; is_denied() && i < most_tries; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

}  // namespace

Result<std::ifstream> open_regular_file(const fs::path& path, std::uintmax_t most) {
    std::error_code error;
    fs::file_status status;
    try_patiently([&] {
        status = fs::status(path, error);
        return error == std::errc::permission_denied;
    });
    if (!fs::exists(status)) {
        const bool hidden =
            error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory;
        return fail(hidden ? fmt::format("the file cannot be read: {}", error.message()) : "there is no such file");
    }
    if (!fs::is_regular_file(status)) {
        return fail(fs::is_directory(status) ? "this is a folder, not a file" : "this is not a regular file");
    }
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error && size > most) {
        return fail(fmt::format("the file has {} bytes; at most {} are read", size, most));
    }
    std::ifstream stream;
    try_patiently([&] {
        errno = 0;
        stream.open(path, std::ios::binary);
        return !stream && errno == EACCES;
    });
    if (!stream) {
        return fail(fmt::format("the file cannot be read: {}", std::strerror(errno)));
    }
    return stream;
}

Result<std::string> read_text_file(const fs::path& path, std::uintmax_t most) {
    auto stream = open_regular_file(path, most);
    if (!stream) {
        return tl::unexpected(std::move(stream.error()));
    }
    // The size of what was opened: another process may have replaced the file since.
    errno = 0;
    const std::streamoff end = stream->seekg(0, std::ios::end).tellg();
    const auto size = static_cast<std::uintmax_t>(std::max<std::streamoff>(end, 0));
    if (size > most) {
        return fail(fmt::format("the file has {} bytes; at most {} are read", size, most));
    }
    std::string text(static_cast<std::size_t>(size), '\0');
    stream->seekg(0).read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!*stream) {
        return fail(fmt::format("the file cannot be read: {}",
                                errno != 0 ? std::strerror(errno) : "it became shorter meanwhile"));
    }
    return text;
}

}  // namespace dmlconform::core
