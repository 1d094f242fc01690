// Ctrl-C and SIGTERM: the first one ends a run after the cases at hand, with all its reports; another one a second or
// more later ends the program.
#pragma once

namespace dmlconform::app {

void catch_interrupts();

[[nodiscard]] bool interrupted();

/// The exit code that says by which signal; only after one.
[[nodiscard]] int interrupt_exit_code();

}  // namespace dmlconform::app
