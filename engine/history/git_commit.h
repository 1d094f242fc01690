// The commit that is checked out here.
#pragma once

#include <optional>
#include <string>

namespace dmlconform::history {

/// What git calls it, with "-dirty" behind it where files differ from it; nothing where there is no git, or no
/// checkout.
[[nodiscard]] std::optional<std::string> git_commit();

/// Whether a text can stand for a commit: one word of printable characters, of a reasonable length.
[[nodiscard]] bool is_commit(const std::string& text);

}  // namespace dmlconform::history
