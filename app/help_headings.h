// Headings in the help of commands with many options.
#pragma once

#include "app/command_line.h"

namespace dmlconform::app {

/// Commands with more options show only the ones that most people need, unless --help-all is given.
inline constexpr std::size_t most_without_headings = 12;

/// Puts the options of these commands under headings, those that most people need first. Without `all`, the others are
/// left out of the help, which says so.
void add_help_headings(Command app, bool all);

}  // namespace dmlconform::app
