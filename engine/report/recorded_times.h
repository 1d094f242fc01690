// How long cases took, by a result of an earlier run.
#pragma once

#include <string>

#include "engine/core/error.h"
#include "engine/run/shard.h"

namespace dmlconform::report {

/// In seconds, all engines and repetitions together.
[[nodiscard]] core::Result<run::CaseDurations> recorded_times(const std::string& path);

}  // namespace dmlconform::report
