// --rerun-failed: the cases that failed in an earlier run.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::app {

/// What failed in a result, on the gate.
struct FailedBefore {
    std::shared_ptr<const std::set<std::string>> ids;
    /// Case files that these are from, in the order of the result.
    std::vector<std::string> files;
    /// This program's engines on which they failed.
    std::vector<std::string> engines;
    /// Engines on which they failed that commands have to start: those are not taken from a file.
    std::vector<std::string> commands;
};

[[nodiscard]] core::Result<FailedBefore> read_failed(const std::string& path);

}  // namespace dmlconform::app
