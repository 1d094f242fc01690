// Documents that options request, and their destinations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::app {

/// Checks in advance that files can be written at these paths, that no two outputs are one file, and that none is a
/// file that the command needs for something else. "-" is the standard output. Ignores empty paths.
[[nodiscard]] core::Result<void> check_outputs(const std::vector<std::string>& outputs,
                                               const std::vector<std::string>& needed = {});

/// The same, and reports the error on stderr.
[[nodiscard]] bool can_write_documents(const std::vector<std::string>& outputs,
                                       const std::vector<std::string>& needed = {});

/// Calls the function and writes its result to the file, or to the standard output for "-"; does nothing if the path is
/// empty. False, after a message on stderr, if writing fails.
[[nodiscard]] bool write_document(const std::string& path, const std::function<std::string()>& make);

/// Writes to the file, or to the standard output if no file is named. `needed`: the files that the text was made from.
/// Returns exit_ok, or after a message on stderr exit_usage if it would replace one of them, and otherwise
/// exit_not_run.
[[nodiscard]] int write_output(const std::string& path, const std::string& text,
                               const std::vector<std::string>& needed);

}  // namespace dmlconform::app
