// What the program writes to: a person's terminal, or something else.
#pragma once

#include <cstddef>

namespace dmlconform::app {

[[nodiscard]] bool stdout_is_terminal();
[[nodiscard]] bool stderr_is_terminal();

/// How many characters fit a line of the standard output: of a terminal, what it says, or else 80; 0, for any number,
/// where it is none.
[[nodiscard]] std::size_t output_width();

/// Whether to colour what goes to stdout: only on a terminal, and not against NO_COLOR (https://no-color.org) or
/// `refused`.
[[nodiscard]] bool use_color(bool refused);

}  // namespace dmlconform::app
