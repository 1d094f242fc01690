// What the program writes to: a person's terminal, or something else.
#pragma once

namespace dmlconform::app {

[[nodiscard]] bool stdout_is_terminal();
[[nodiscard]] bool stderr_is_terminal();

/// Whether to colour what goes to stdout: only on a terminal, and not against NO_COLOR (https://no-color.org) or
/// `refused`.
[[nodiscard]] bool use_color(bool refused);

}  // namespace dmlconform::app
