// The program's path, for starting it again.
#pragma once

#include <string>

namespace dmlconform::app {

/// The path of the running program; `called_as`, the first word of the command line, if the system does not tell.
[[nodiscard]] std::string program_path(const std::string& called_as);

}  // namespace dmlconform::app
