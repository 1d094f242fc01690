// --type: a data type by its name.
#pragma once

#include <string>

#include "app/command_line.h"

namespace dmlconform::app {

/// Adds the option, which takes any data type; `what` is its help.
void add_data_type(Command command, std::string& type, const char* what);

}  // namespace dmlconform::app
