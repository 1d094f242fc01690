// The durations of cases in an earlier run's result file.
#pragma once

#include <string>

#include "engine/core/error.h"
#include "engine/run/shard.h"

namespace dmlconform::report {

/// Durations in seconds, summed over all engines and repetitions.
[[nodiscard]] core::Result<run::CaseDurations> recorded_times(const std::string& path);

}  // namespace dmlconform::report
