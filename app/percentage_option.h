// Options with percentages, for which 5 and 5% mean the same.
#pragma once

#include <string>

#include "app/command_line.h"

namespace dmlconform::app {

/// Adds an option. `share` receives the percentage as a share of 1, and must outlive the command. Its initial value is
/// the default, which the help mentions.
void add_percentage(Command command, const std::string& name, double& share, const std::string& purpose);

}  // namespace dmlconform::app
