// Files as the system has them, where the standard library says too little about how one is opened.
//
// new_file_posix.cpp and new_file_windows.cpp define the functions.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace dmlconform::report {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Makes the file and opens it to be written. Null, with errno, where something of that name is there already, be it a
/// link to what is not: nobody else has its name then.
[[nodiscard]] File make_new_file(const std::filesystem::path& path);

/// A file of the folder without a name, so that nothing of it is left however the program ends. Null where the file
/// system has no such files, or where none can be made there.
[[nodiscard]] File make_nameless_file(const std::filesystem::path& folder);

/// A file for Windows' folder of temporary files, to be written and read, that is gone once it is closed. Null, with
/// errno, on any other system: those have std::tmpfile.
[[nodiscard]] File make_passing_file(const std::filesystem::path& path);

/// What stands for the standard output where a path is given. A file of that name is "./-".
inline constexpr const char* standard_output_path = "-";

/// What messages call a file: its path, or "the standard output".
[[nodiscard]] inline std::string file_in_messages(const std::string& path) {
    return path == standard_output_path ? "the standard output" : path;
}

/// Opens what is there, to be written from its beginning on: a device, a pipe, or what the program's standard output or
/// standard error goes to, which is written to where those are. Null, with errno, where that is not possible.
[[nodiscard]] File open_in_place(const std::filesystem::path& path);

/// Whether the path is "-", or leads to what the program's standard output or standard error goes to: replacing that
/// would leave them with a file that nobody finds.
[[nodiscard]] bool is_standard_stream(const std::filesystem::path& path);

}  // namespace dmlconform::report
