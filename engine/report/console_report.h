// The report that a person reads: a block for each failure, then totals.
#pragma once

#include <string>

#include "engine/report/console_style.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// Everything that is known of a case that did not pass; several lines, each ending in a newline. `program` is how the
/// user calls dmlconform: the block shows the command that runs just this case again.
[[nodiscard]] std::string failure_block(const run::CaseResult& result, const EngineInfo& engine,
                                        const std::string& program, const ConsoleStyle& style);

/// One line for a case that was skipped, passed or served as reference.
[[nodiscard]] std::string result_line(const run::CaseResult& result, const EngineInfo& engine,
                                      const ConsoleStyle& style);

/// The table of totals per operator and engine, with times, and the closing lines that say how the run ended.
[[nodiscard]] std::string summary(const run::RunResult& run, const ConsoleStyle& style);

}  // namespace dmlconform::report
