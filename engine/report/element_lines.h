// Elements of an output that differs, expected beside actual.
#pragma once

#include "engine/core/shown_text.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// Lines for a failure block: all elements of a small output, row by row; of a larger one the first that differ. Empty
/// where the worst element, which the block has, is all there is.
[[nodiscard]] core::ShownText element_lines(const run::OutputResult& output);

}  // namespace dmlconform::report
