// What several commands say in the same words.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/cases/problems.h"
#include "engine/core/error.h"

namespace dmlconform::app {

/// "dmlconform: …", and the hint below it if there is one, on stderr.
void print_error(const core::Error& error);

/// The catalogue has no operator of that name. The hint is the one that is meant, perhaps, or else `otherwise`.
[[nodiscard]] core::Error unknown_operator(const std::string& name,
                                           const char* otherwise = "`dmlconform describe` lists them");

/// Every problem on stderr, and then how many there are in `where`: "the input".
void print_problems(std::span<const cases::Problem> problems, std::string_view where);

/// The adapter, and its driver where it has one.
[[nodiscard]] std::string device_text(const std::string& adapter, const std::string& driver);

}  // namespace dmlconform::app
