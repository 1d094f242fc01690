// The report that a person reads: a block for each failure, then totals.
#pragma once

#include <string>
#include <vector>

#include "engine/report/console_style.h"
#include "engine/run/totals.h"

namespace dmlconform::report {

/// How the user calls dmlconform: for commands that run a case again as it was run.
struct Caller {
    std::string program;
    /// What all cases of the run were given, and the engines do not know.
    std::vector<std::string> options;
};

/// Everything that is known of a case that did not pass; several lines, each ending in a newline. The last one is the
/// command that runs just this case again.
[[nodiscard]] core::ShownText failure_block(const run::CaseResult& result, const EngineInfo& engine,
                                            const Caller& caller, const ConsoleStyle& style);

/// The same without colours; of a result that was read from a file, the reason alone.
[[nodiscard]] std::string failure_text(const run::CaseResult& result, const EngineInfo& engine, const Caller& caller);

/// One line for a result, whatever it is.
[[nodiscard]] core::ShownText result_line(const run::CaseResult& result, const EngineInfo& engine,
                                          const ConsoleStyle& style);

/// What the comparisons of a result were made of: one line for each output, to follow a result_line.
[[nodiscard]] core::ShownText comparison_lines(const run::CaseResult& result);

/// The table of totals (totals_table.h), and the closing lines that say how the run ended.
[[nodiscard]] core::ShownText summary(const run::RunTotals& totals, const ConsoleStyle& style, std::size_t width = 0,
                                      bool every_row = false);

}  // namespace dmlconform::report
