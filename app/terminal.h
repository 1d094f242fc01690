// Properties of the terminal that the program writes to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dmlconform::app {

[[nodiscard]] bool stdout_is_terminal();

/// Whether to show a line on stderr that is overwritten: only on a terminal that can do so.
[[nodiscard]] bool shows_progress();

/// The number of characters in a line of the standard output: the terminal's width, or 80 if it is unknown; 0, meaning
/// unlimited, if it is not a terminal.
[[nodiscard]] std::size_t output_width();

/// The text in lines of at most `width` characters, broken at blanks. A longer word has a line of its own.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width);

/// Whether to colour what goes to stdout: only on a terminal, and not against NO_COLOR (https://no-color.org) or
/// `refused`.
[[nodiscard]] bool use_color(bool refused);

}  // namespace dmlconform::app
