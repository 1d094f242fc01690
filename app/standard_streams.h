// All output of the program. External text is made safe to show, and write errors are remembered, because a run whose
// result was lost must not succeed.
#pragma once

#include <string_view>

#include "engine/core/error.h"
#include "engine/core/shown_text.h"

namespace dmlconform::app {

/// Opens the standard streams if the program was started without them. Otherwise files that are opened later would get
/// their numbers, and output would go into these files. Writing to a stream that was closed is an error. Makes a
/// console of Windows take UTF-8, and colours, until the program ends.
void open_standard_streams();

/// Turns the signals for broken pipes and file size limits into write errors. Started programs keep the system's
/// default.
void turn_write_signals_into_errors();

/// Reserves the standard output for a document: text for people goes to the standard error from now on.
void leave_output_to_a_document();

/// Prints to the standard output, or to the standard error if a document reserved it.
void print(const core::ShownText& text);
template <class... Arguments>
void say(fmt::format_string<core::Cleaned<Arguments>...> format, const Arguments&... arguments) {
    print(core::show(format, arguments...));
}

/// Prints to the standard error. Write errors are ignored.
void print_warning(const core::ShownText& text);
template <class... Arguments>
void warn(fmt::format_string<core::Cleaned<Arguments>...> format, const Arguments&... arguments) {
    print_warning(core::show(format, arguments...));
}

/// Writes a document to the standard output: unchanged, or made safe to show if that is a terminal.
void print_document(std::string_view document);

/// Flushes the output. Fails also if an earlier write failed.
[[nodiscard]] core::Result<void> flush_output();

/// Must be called after the last output: flushes it. Returns `exit_code`, or exit_not_run after a message if the
/// standard output could not be written.
[[nodiscard]] int final_exit_code(int exit_code);

}  // namespace dmlconform::app
