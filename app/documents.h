// Documents that options ask for, and where they go.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

namespace dmlconform::app {

/// Whether files can be written at these paths, as far as that shows before there is anything to write. The first that
/// cannot be is named on stderr. Nothing is asked of an empty path and of "-", which stands for the standard output.
[[nodiscard]] bool can_write_documents(std::initializer_list<std::string> paths);

/// What is made goes to the file, or to the standard output for "-"; nothing is made where the path is empty. False,
/// with a word about it on stderr, when it cannot be written.
[[nodiscard]] bool write_document(const std::string& path, const std::function<std::string()>& make);

/// To the file, or to the standard output where none is named. The exit code: exit_ok, or exit_not_run with a word
/// about it on stderr.
[[nodiscard]] int write_output(const std::string& path, const std::string& text);

}  // namespace dmlconform::app
