// The manual page, generated from the help texts.
#pragma once

#include <string>

#include "app/command_tree.h"

namespace dmlconform::app {

/// The page with man(7) macros, which `man -l FILE` shows.
[[nodiscard]] std::string manual_page(const CommandNode& program, const std::string& version);

}  // namespace dmlconform::app
