// A history's data for the pages of `dmlconform report`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/history/change_points.h"
#include "engine/history/store.h"

namespace dmlconform::history {

/// Only this many of the newest points of a series are drawn.
inline constexpr std::size_t most_points = 200;

/// A list of series, those that changed first. Each has name, title, machine, adapter, points (measured, commit,
/// driver; of benchmarks level, low and high in seconds), changes (index, before, after, confirmed), and of benchmarks
/// the verdict (engine/history/verdict.h), and what the level of a point is, "median" for example. Of runs: failures
/// and passes, a number for each point.
[[nodiscard]] core::Result<nlohmann::ordered_json> trends(Store& store, const ChangePointSettings& settings = {});

}  // namespace dmlconform::history
