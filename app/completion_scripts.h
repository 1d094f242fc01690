// Scripts that let a shell complete the program's command line.
#pragma once

#include <string>

#include "app/command_tree.h"

namespace dmlconform::app {

[[nodiscard]] std::string bash_completion(const CommandNode& program);
[[nodiscard]] std::string zsh_completion(const CommandNode& program);
[[nodiscard]] std::string fish_completion(const CommandNode& program);

}  // namespace dmlconform::app
