// Options that are percentages: 5 and 5% are the same, wherever they are given.
#pragma once

#include <string>

#include "app/command_line.h"

namespace dmlconform::app {

/// Adds an option whose percentage goes into `share` as a part of 1, which must live as long as the command. Its value
/// is the default, and is named in the help.
void add_percentage(Command command, const std::string& name, double& share, const std::string& purpose);

}  // namespace dmlconform::app
