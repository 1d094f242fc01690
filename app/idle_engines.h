// Idle engines, which were requested but skipped every case. They fail a run, like unusable engines. Single skips fail
// it with --fail-on-skip.
#pragma once

#include <string>
#include <vector>

#include "engine/run/totals.h"

namespace dmlconform::app {

/// The named engines that skipped every case. `named` has names, and commands with the prefix "exec:".
[[nodiscard]] std::vector<std::string> idle_engines(const std::vector<std::string>& named,
                                                    const run::RunTotals& totals);

/// Reports them on stdout.
void print_idle(const std::vector<std::string>& idle);

/// Reports the skips on stdout that --fail-on-skip makes a failure.
void print_forbidden_skips(const run::RunTotals& totals);

}  // namespace dmlconform::app
