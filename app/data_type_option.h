// --type: a data type by its name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dmlconform::app {

/// Adds the option, which takes any data type; `what` is its help.
void add_data_type(CLI::App& command, std::string& type, const char* what);

}  // namespace dmlconform::app
