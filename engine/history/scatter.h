// How much results of a benchmark scatter from one to the next, as `compare` wants to know it.
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/comparison.h"
#include "engine/history/change_points.h"
#include "engine/history/store.h"

namespace dmlconform::history {

/// The scatter of each benchmark in the history that was measured on the machine and the adapter of `file`, from the
/// differences between successive results, except those at changes.
[[nodiscard]] std::map<std::string, bench::LearnedScatter> learned_scatter(std::span<const Series> all,
                                                                           const bench::BenchmarkFile& file,
                                                                           const ChangePointSettings& settings = {});

}  // namespace dmlconform::history
