// Files that reports are written to: complete or not there at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/core/error.h"
#include "engine/report/new_file.h"

namespace dmlconform::report {

/// Whether a file could be written at that path, found out by making and removing one beside it. For before a run,
/// which may take long.
[[nodiscard]] core::Result<void> check_writable(const std::string& path);

/// A file that is written bit by bit, under a name of its own beside its path until it is complete. Where the path is a
/// symbolic link, the file behind it is replaced. Devices, pipes and the standard output ("-") are written to as they
/// are.
class OutputFile {
public:
    OutputFile() = default;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    /// Removes what was not committed.
    ~OutputFile();

    [[nodiscard]] core::Result<void> open(const std::string& path);
    /// Short texts are gathered, so that what cannot be written may show only later.
    [[nodiscard]] core::Result<void> write(std::string_view text);
    /// Puts the file in its place.
    [[nodiscard]] core::Result<void> commit();

    /// Where it is written until then, for what can only be told a name.
    [[nodiscard]] std::string written_path() const { return written_.string(); }

private:
    void remove();

    /// As it was given, for messages.
    std::string path_;
    /// What is going to be replaced: the path, or what is behind it.
    std::filesystem::path target_;
    std::filesystem::path written_;
    File file_;
};

/// Writes a whole file.
[[nodiscard]] core::Result<void> write_file(const std::string& path, std::string_view content);

/// Adds to the end of a file, which is made if it is not there. Devices and pipes are written to as they are.
[[nodiscard]] core::Result<void> append_to_file(const std::string& path, std::string_view content);

/// What a path stands for once symbolic links are followed, also where the last one leads to nothing yet.
[[nodiscard]] core::Result<std::filesystem::path> behind_links(const std::string& path);

}  // namespace dmlconform::report
