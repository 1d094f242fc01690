// The complete, machine-readable result of a run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/run/result.h"

namespace dmlconform::report {

/// What a run's result does not know of itself.
struct RunContext {
    /// The command line, word by word.
    std::vector<std::string> command;
    /// Names and versions of the program and of what is linked into it.
    std::vector<std::pair<std::string, std::string>> versions;
    /// UTC, ISO 8601.
    std::string started;
    int exit_code = 0;
};

/// One JSON document; see docs/result-format.md.
[[nodiscard]] std::string json_report(const run::RunResult& run, const RunContext& context);

}  // namespace dmlconform::report
