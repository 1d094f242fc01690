// The options that say how benchmarks are compared: --threshold and --paired.
#pragma once

#include <cstddef>

#include "app/command_line.h"
#include "engine/bench/comparison.h"
#include "engine/core/error.h"

namespace dmlconform::app {

/// Adds them; `settings` must live as long as the command.
void add_comparison_options(Command command, bench::ComparisonSettings& settings);

/// Whether so many files of each side can be compared as the settings want it.
[[nodiscard]] core::Result<void> check_pairs(const bench::ComparisonSettings& settings, std::size_t base,
                                             std::size_t now);

}  // namespace dmlconform::app
