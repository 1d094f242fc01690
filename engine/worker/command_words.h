// Splits a command line into words without a shell, in the same way on every system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::worker {

/// Words are separated by blanks. '…' keeps everything, and "…" everything except \" and \\. Outside of quotes, a
/// backslash escapes a following blank, quote or backslash, and is an ordinary character otherwise, as in C:\tools.
/// Fails if a quote is not closed, or if there is no word.
[[nodiscard]] core::Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace dmlconform::worker
