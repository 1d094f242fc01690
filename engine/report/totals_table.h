// What came of each operator on each engine, in as few rows as tell it.
#pragma once

#include <cstddef>

#include "engine/report/console_style.h"
#include "engine/run/totals.h"

namespace dmlconform::report {

/// A row for each operator and engine, with times. Operators that an engine skips altogether share one row; so do those
/// without failures where they are many, unless `every_row` is asked for. `width`: in characters; 0: any.
[[nodiscard]] core::ShownText totals_table(const run::RunTotals& totals, const ConsoleStyle& style,
                                           std::size_t width = 0, bool every_row = false);

}  // namespace dmlconform::report
