// Files that reports are written to: complete or not there at all.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::report {

/// Whether a file could be written at that path, found out by making and removing one beside it. For before a run,
/// which may take long.
[[nodiscard]] core::Result<void> check_writable(const std::string& path);

/// A file that is written bit by bit, under a temporary name beside its path until it is complete. Devices and pipes
/// are written to as they are.
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

private:
    [[nodiscard]] core::Result<void> checked();

    std::string path_;
    /// Where it is written; the path itself for what cannot be replaced.
    std::string written_;
    std::ofstream stream_;
};

/// Writes a whole file.
[[nodiscard]] core::Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace dmlconform::report
