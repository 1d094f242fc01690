// The commit of the current checkout.
#pragma once

#include <optional>
#include <string>

namespace dmlconform::history {

/// git's description of the commit, with "-dirty" appended if files differ from it. Empty without git or a checkout.
[[nodiscard]] std::optional<std::string> git_commit();

/// True if a text can name a commit: one printable word of reasonable length.
[[nodiscard]] bool is_commit(const std::string& text);

}  // namespace dmlconform::history
