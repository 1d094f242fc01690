// Opens files by the C runtime, and replaces them by the system.
#ifdef _WIN32

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <cerrno>

#include "engine/report/new_file.h"

namespace dmlconform::report {
namespace {

File with_stream(int descriptor, const char* mode) {
    if (descriptor < 0) {
        return nullptr;
    }
    File file(_fdopen(descriptor, mode));
    if (!file) {
        const int reason = errno;
        _close(descriptor);
        errno = reason;
    }
    return file;
}

}  // namespace

File make_new_file(const std::filesystem::path& path) {
    return with_stream(
        _wopen(path.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE), "wb");
}

File make_or_empty_file(const std::filesystem::path& path) {
    return File(_wfopen(path.c_str(), L"wb"));
}

File make_nameless_file(const std::filesystem::path& /*folder*/) {
    return nullptr;
}

std::error_code replace_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    constexpr DWORD milliseconds_between = 10;
    constexpr int most_tries = 200;
    DWORD problem = ERROR_SUCCESS;
    for (int i = 0; i < most_tries; ++i) {
        if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) {
            return {};
        }
        problem = GetLastError();
        // What a file that somebody reads, or a scanner looks at, gives.
        if (problem != ERROR_ACCESS_DENIED && problem != ERROR_SHARING_VIOLATION) {
            break;
        }
        Sleep(milliseconds_between);
    }
    return {static_cast<int>(problem), std::system_category()};
}

bool is_standard_stream(const std::filesystem::path& path) {
    return path == standard_output_path;  // no other path refers to one of them
}

File open_in_place(const std::filesystem::path& path) {
    if (is_standard_stream(path)) {
        std::fflush(stdout);
        const int descriptor = _dup(_fileno(stdout));
        if (descriptor >= 0) {
            _setmode(descriptor, _O_BINARY);
        }
        return with_stream(descriptor, "wb");
    }
    return with_stream(_wopen(path.c_str(), _O_WRONLY | _O_BINARY | _O_NOINHERIT), "wb");
}

}  // namespace dmlconform::report

#endif
