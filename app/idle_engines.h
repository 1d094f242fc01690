// Idle engines, which were requested but skipped every case. They fail a run, like unusable engines.
#pragma once

#include <string>
#include <vector>

#include "engine/run/totals.h"

namespace dmlconform::app {

/// The values of --engine on a command line.
[[nodiscard]] std::vector<std::string> engines_named_in(const std::vector<std::string>& words);

/// The named engines that skipped every case. `named` has names, and commands with the prefix "exec:".
[[nodiscard]] std::vector<std::string> idle_engines(const std::vector<std::string>& named,
                                                    const run::RunTotals& totals);

/// Reports them on stdout.
void print_idle(const std::vector<std::string>& idle);

}  // namespace dmlconform::app
