// Output files of reports, which are either complete or absent.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/core/error.h"
#include "engine/report/new_file.h"
#include "engine/report/partial_files.h"

namespace dmlconform::report {

/// Checks that a file can be written at that path, by creating and removing one beside it. Meant for use before a long
/// run.
[[nodiscard]] core::Result<void> check_writable(const std::string& path);

/// A file that is written in pieces under a temporary name beside its path, until it is complete. If the path is a
/// symbolic link, the file behind it is replaced. Devices, pipes and the standard output ("-") are written in place.
class OutputFile {
public:
    OutputFile() = default;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    /// Removes a file that was not committed.
    ~OutputFile();

    [[nodiscard]] core::Result<void> open(const std::string& path);
    /// Writes are buffered, so an error may be reported later.
    [[nodiscard]] core::Result<void> write(std::string_view text);
    /// Renames the complete file to its path.
    [[nodiscard]] core::Result<void> commit();

private:
    void remove();

    /// As given by the user, for messages.
    std::string path_;
    /// The file that will be replaced: the path, or the target of the link.
    std::filesystem::path target_;
    std::filesystem::path written_;
    PartialFile partial_;
    File file_;
};

/// Writes a whole file.
[[nodiscard]] core::Result<void> write_file(const std::string& path, std::string_view content);

/// Appends to a file, which is created if necessary. Devices and pipes are written in place.
[[nodiscard]] core::Result<void> append_to_file(const std::string& path, std::string_view content);

/// The path with symbolic links resolved, even if the last one is broken.
[[nodiscard]] core::Result<std::filesystem::path> behind_links(const std::string& path);

}  // namespace dmlconform::report
