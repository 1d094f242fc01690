// Converts the interval of an element to the form that comparisons use.
#pragma once

#include "engine/core/data_type.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/interval.h"

namespace dmlconform::cpu {

/// Stores in `slack` which numbers implementations may return for an element for which the reference stored `stored`,
/// and the expected error of the simplest FP32 implementation. Does nothing if `slack` is empty, which means that
/// bounds are not wanted.
void note_accepted(core::ElementSlack& slack, std::size_t element, core::DataType type, double stored,
                   const Interval& range);

}  // namespace dmlconform::cpu
