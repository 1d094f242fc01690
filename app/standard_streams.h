// All that the program says goes through here: what comes from outside is made harmless on the way, and what cannot be
// written is remembered, because a result that nobody got must not end as a success.
#pragma once

#include <string_view>

#include "engine/core/error.h"
#include "engine/core/shown_text.h"

namespace dmlconform::app {

/// Gives the standard streams something to be if the program was started without them: files that are opened later
/// would take their numbers, and what is printed would go into them. Writing to one that was closed is an error.
void open_standard_streams();

/// Makes a pipe that nobody reads any more, and a file that may not grow, errors of what is written rather than the
/// end of the program. Programs that are started keep the system's way.
void turn_write_signals_into_errors();

/// A document is going to have the standard output for itself: what is printed for people goes to the standard error
/// from now on.
void leave_output_to_a_document();

/// To the standard output, unless that is left to a document.
void print(const core::ShownText& text);
template <class... Arguments>
void say(fmt::format_string<core::Cleaned<Arguments>...> format, const Arguments&... arguments) {
    print(core::show(format, arguments...));
}

/// To the standard error. That it cannot be written there is nobody to tell.
void print_warning(const core::ShownText& text);
template <class... Arguments>
void warn(fmt::format_string<core::Cleaned<Arguments>...> format, const Arguments&... arguments) {
    print_warning(core::show(format, arguments...));
}

/// A file's content on the standard output: as it is, but made harmless if that is a terminal.
void print_document(std::string_view document);

/// Writes what was held back. An error, also when anything before could not be written.
[[nodiscard]] core::Result<void> flush_output();

/// To be called when nothing more is going to be printed: writes what was held back. Returns `exit_code`, or
/// exit_not_run, with a message, where the standard output could not be written.
[[nodiscard]] int final_exit_code(int exit_code);

}  // namespace dmlconform::app
