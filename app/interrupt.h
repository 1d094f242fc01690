// Ctrl-C: the first one ends a run after the case at hand, with all its reports; the second one ends the program.
#pragma once

namespace dmlconform::app {

void catch_interrupts();

[[nodiscard]] bool interrupted();

}  // namespace dmlconform::app
