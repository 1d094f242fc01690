// The manual page, made of the help texts.
#pragma once

#include <string>

#include "app/command_tree.h"

namespace dmlconform::app {

/// As man(7) macros: `man -l FILE` shows it.
[[nodiscard]] std::string manual_page(const CommandNode& program, const std::string& version);

}  // namespace dmlconform::app
