// Files that reports are written to: complete or not there at all.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::report {

/// Whether a file could be written at that path, found out by making and removing one beside it. For before a run,
/// which may take long.
[[nodiscard]] core::Result<void> check_writable(const std::string& path);

/// Writes under a temporary name beside the path, then renames.
[[nodiscard]] core::Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace dmlconform::report
