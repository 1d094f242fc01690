// The options that say how benchmarks are compared: --threshold and --paired.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>

#include "engine/bench/comparison.h"
#include "engine/core/error.h"

namespace dmlconform::app {

/// Adds them; `settings` must live as long as the command.
void add_comparison_options(CLI::App& command, bench::ComparisonSettings& settings);

/// Whether so many files of each side can be compared as the settings want it.
[[nodiscard]] core::Result<void> check_pairs(const bench::ComparisonSettings& settings, std::size_t base,
                                             std::size_t now);

}  // namespace dmlconform::app
