// The options of benchmark comparisons: --threshold and --paired.
#pragma once

#include <cstddef>

#include "app/command_line.h"
#include "engine/bench/comparison.h"
#include "engine/core/error.h"

namespace dmlconform::app {

/// Adds the options; `settings` must outlive the command.
void add_comparison_options(Command command, bench::ComparisonSettings& settings);

/// Checks that this number of files can be compared with these settings.
[[nodiscard]] core::Result<void> check_pairs(const bench::ComparisonSettings& settings, std::size_t base,
                                             std::size_t now);

}  // namespace dmlconform::app
