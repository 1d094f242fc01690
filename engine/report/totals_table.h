// The totals of each operator on each engine, in few rows.
#pragma once

#include <cstddef>

#include "engine/report/console_style.h"
#include "engine/run/totals.h"

namespace dmlconform::report {

/// One row for each operator and engine, with times. Operators that an engine skips completely share a row. So do
/// operators without failures if there are many, unless `every_row` is set. `width`: the maximum in characters; 0:
/// unlimited.
[[nodiscard]] core::ShownText totals_table(const run::RunTotals& totals, const ConsoleStyle& style,
                                           std::size_t width = 0, bool every_row = false);

}  // namespace dmlconform::report
