// Reading of whole files that somebody gave.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/error.h"

namespace dmlconform::core {

/// The file's bytes. An error (without the path) when there is no such regular file, when it is larger than `most`
/// bytes, or when it cannot be read to its end.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::uintmax_t most);

}  // namespace dmlconform::core
