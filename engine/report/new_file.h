// Opens and replaces files in ways that the standard library does not support.
//
// new_file_posix.cpp and new_file_windows.cpp define the functions.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace dmlconform::report {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Creates a file and opens it for writing. Null, with errno, if anything of that name exists, even a broken link.
[[nodiscard]] File make_new_file(const std::filesystem::path& path);

/// Opens a file for writing that is created, or emptied if it exists. Null, with errno, on failure.
[[nodiscard]] File make_or_empty_file(const std::filesystem::path& path);

/// Creates a file without a name in the folder, which disappears when the program ends. Null if the file system does
/// not support it.
[[nodiscard]] File make_nameless_file(const std::filesystem::path& folder);

/// Gives a file another name, that of a file that it replaces if there is one. On Windows, nobody can replace a file
/// while somebody reads it, so this waits for readers for up to two seconds.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Means the standard output where a path is expected. A file of that name is "./-".
inline constexpr const char* standard_output_path = "-";

/// The name of a file in messages: its path, or "the standard output".
[[nodiscard]] inline std::string file_in_messages(const std::string& path) {
    return path == standard_output_path ? "the standard output" : path;
}

/// Opens an existing file for writing from the beginning: a device, a pipe, or the file behind the program's standard
/// output or standard error, which is then written through that stream. Null, with errno, on failure.
[[nodiscard]] File open_in_place(const std::filesystem::path& path);

/// True if the path is "-", or refers to the file behind the program's standard output or standard error. Replacing
/// that file would leave the stream writing to a deleted one.
[[nodiscard]] bool is_standard_stream(const std::filesystem::path& path);

}  // namespace dmlconform::report
