// Assembles the program's command line.
#pragma once

#include "app/command.h"

namespace dmlconform::app {

/// Adds all subcommands, in the order in which the help lists them.
void add_commands(Command app, const Invocation& invocation, int& exit_code);

}  // namespace dmlconform::app
