// Reading of files that somebody gave. Only regular files: a pipe may never come to its end, and a device may be
// endless.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/core/error.h"

namespace dmlconform::core {

/// The file, opened to read bytes. An error (without the path) when there is no such regular file, when it is larger
/// than `most` bytes, or when it cannot be opened.
[[nodiscard]] Result<std::ifstream> open_regular_file(const std::filesystem::path& path, std::uintmax_t most);

/// The file's bytes. An error as above, or when it cannot be read to its end.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::uintmax_t most);

}  // namespace dmlconform::core
