// Handling of Ctrl-C, SIGTERM and SIGHUP: the first signal ends a run after the current cases, with all reports;
// another one at least a second later ends the program.
#pragma once

namespace dmlconform::app {

/// For commands that cannot end early: a signal ends them immediately, after removing incomplete files.
void remove_partial_files_on_signals();

/// For commands that ask interrupted().
void catch_interrupts();

[[nodiscard]] bool interrupted();

/// The exit code for the received signal. Only after interrupted() is true.
[[nodiscard]] int interrupt_exit_code();

}  // namespace dmlconform::app
