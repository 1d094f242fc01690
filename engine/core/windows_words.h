// Words of command lines on Windows.
#pragma once

#include <string>

namespace dmlconform::core {

/// Quotes a word as Windows programs take command lines apart (CommandLineToArgvW), and as cmd.exe passes it on: in
/// double quotes if it has blanks, or what cmd.exe would take for its own. cmd.exe replaces %NAME% all the same.
[[nodiscard]] std::string windows_quoted(const std::string& word);

}  // namespace dmlconform::core
