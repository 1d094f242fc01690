// Messages that several commands share.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/cases/case.h"
#include "engine/cases/problems.h"
#include "engine/core/error.h"

namespace dmlconform::app {

/// Prints "dmlconform: …" and the hint, if any, on stderr.
void print_error(const core::Error& error);
/// The same. Returns the exit code, for commands that end with it.
[[nodiscard]] int failure(const core::Error& error, int exit_code);

/// The error for an unknown operator. The hint is a similar name, or else `otherwise`.
[[nodiscard]] core::Error unknown_operator(const std::string& name,
                                           const char* otherwise = "`dmlconform describe` lists them");

/// Prints every problem on stderr, followed by their number in `where`, such as "the input".
void print_problems(std::span<const cases::Problem> problems, std::string_view where);

/// Prints a case's id and the lines of its descriptor on stderr, because reports may use the standard output.
void print_descriptor(const cases::Case& subject);

/// The adapter, with its driver if it has one.
[[nodiscard]] std::string device_text(const std::string& adapter, const std::string& driver);

}  // namespace dmlconform::app
