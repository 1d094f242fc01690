// A command as a user writes it on one line, taken apart without a shell: the same on every system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::worker {

/// Words are separated by blanks. '…' keeps everything as it is, "…" too but for \" and \\; outside of quotes a
/// backslash keeps a blank, a quote or a backslash that follows, and is itself everywhere else, as in C:\tools. An
/// error for a quote that is not closed, and when there is no word.
[[nodiscard]] core::Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace dmlconform::worker
