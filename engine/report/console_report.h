// The report that a person reads: a block for each failure, then totals.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/report/console_style.h"
#include "engine/run/totals.h"

namespace dmlconform::report {

/// How the user invoked dmlconform, for commands that repeat a case.
struct Caller {
    std::string program;
    /// Options that apply to all cases and that engines do not know.
    std::vector<std::string> options;
    /// Makes the command that repeats a case, if the case is in no file; null otherwise.
    std::function<std::string(const run::CaseResult& result)> again{};
};

/// A description of a case that did not pass, in several lines that each end in a newline. The last one is the command
/// that runs the case again.
[[nodiscard]] core::ShownText failure_block(const run::CaseResult& result, const EngineInfo& engine,
                                            const Caller& caller, const ConsoleStyle& style);

/// The same without colours; only the reason if the result was read from a file.
[[nodiscard]] std::string failure_text(const run::CaseResult& result, const EngineInfo& engine, const Caller& caller);

/// One line for any result.
[[nodiscard]] core::ShownText result_line(const run::CaseResult& result, const EngineInfo& engine,
                                          const ConsoleStyle& style);

/// Details of the comparison, one line for each output. Printed after result_line.
[[nodiscard]] core::ShownText comparison_lines(const run::CaseResult& result);

/// The table of totals (totals_table.h), and closing lines that say how the run ended.
[[nodiscard]] core::ShownText summary(const run::RunTotals& totals, const ConsoleStyle& style, std::size_t width = 0,
                                      bool every_row = false);

}  // namespace dmlconform::report
