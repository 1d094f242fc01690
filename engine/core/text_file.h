// Reads files that a user named. Only regular files are accepted: a pipe may never end, and a device may be endless.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/core/error.h"

namespace dmlconform::core {

/// Opens a file for reading bytes. Fails if the path is not a regular file, if the file is larger than `most` bytes, or
/// if it cannot be opened. The error does not contain the path.
[[nodiscard]] Result<std::ifstream> open_regular_file(const std::filesystem::path& path, std::uintmax_t most);

/// Reads a whole file. Fails like open_regular_file, and if reading stops before the end.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::uintmax_t most);

}  // namespace dmlconform::core
