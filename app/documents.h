// Documents that options request, and their destinations.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

namespace dmlconform::app {

/// Checks in advance that files can be written at these paths. Reports the first that cannot on stderr. Ignores empty
/// paths and "-", the standard output.
[[nodiscard]] bool can_write_documents(std::initializer_list<std::string> paths);

/// Calls the function and writes its result to the file, or to the standard output for "-"; does nothing if the path is
/// empty. False, after a message on stderr, if writing fails.
[[nodiscard]] bool write_document(const std::string& path, const std::function<std::string()>& make);

/// Writes to the file, or to the standard output if no file is named. Returns exit_ok, or exit_not_run after a message
/// on stderr.
[[nodiscard]] int write_output(const std::string& path, const std::string& text);

}  // namespace dmlconform::app
