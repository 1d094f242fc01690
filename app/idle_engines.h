// Engines that were asked for and did nothing. They fail a run, as an engine that is not usable does.
#pragma once

#include <string>
#include <vector>

#include "engine/run/totals.h"

namespace dmlconform::app {

/// What a command line has after --engine.
[[nodiscard]] std::vector<std::string> engines_named_in(const std::vector<std::string>& words);

/// Those of the engines named that skipped every case. `named` has names, and commands with "exec:" in front.
[[nodiscard]] std::vector<std::string> idle_engines(const std::vector<std::string>& named,
                                                    const run::RunTotals& totals);

/// Tells so, on stdout.
void print_idle(const std::vector<std::string>& idle);

}  // namespace dmlconform::app
