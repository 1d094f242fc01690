// Options that are percentages: 5 and 5% are the same, wherever they are given.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dmlconform::app {

/// Adds an option whose percentage goes into `share` as a part of 1, which must live as long as the command. Its value
/// is the default, and is named in the help.
void add_percentage(CLI::App& command, const std::string& name, double& share, const std::string& purpose);

}  // namespace dmlconform::app
