// The option --threshold.
#pragma once

#include <CLI/CLI.hpp>

namespace dmlconform::app {

/// Adds it; `threshold` becomes 0.05 for "5%" and for "0.05", and must live as long as the command.
void add_threshold(CLI::App& command, double& threshold);

}  // namespace dmlconform::app
