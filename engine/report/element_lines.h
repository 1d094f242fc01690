// Expected and actual elements of an output that differs, side by side.
#pragma once

#include "engine/core/shown_text.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// Lines for a failure block: all elements of a small output, row by row, or the first ones that differ. Empty if the
/// only such element is the worst one, which the block shows anyway.
[[nodiscard]] core::ShownText element_lines(const run::OutputResult& output);

}  // namespace dmlconform::report
