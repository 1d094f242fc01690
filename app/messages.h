// What several commands say in the same words.
#pragma once

#include <string>

#include "engine/core/error.h"

namespace dmlconform::app {

/// "dmlconform: …", and the hint below it if there is one, on stderr.
void print_error(const core::Error& error);

/// The adapter, and its driver where it has one.
[[nodiscard]] std::string device_text(const std::string& adapter, const std::string& driver);

}  // namespace dmlconform::app
