// The option --type: a data type by name.
#pragma once

#include <string>

#include "app/command_line.h"

namespace dmlconform::app {

/// Adds the option, which accepts any data type; `what` is its help text.
void add_data_type(Command command, std::string& type, const char* what);

}  // namespace dmlconform::app
