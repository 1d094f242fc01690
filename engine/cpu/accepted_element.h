// What an interval says about one element of an output, in the form that comparisons take.
#pragma once

#include "engine/core/data_type.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/interval.h"

namespace dmlconform::cpu {

/// Notes that implementations may store the numbers in `range` where the reference stored this one. Does nothing if
/// `slack` is empty: nobody asked for it.
void note_accepted(core::ElementSlack& slack, std::size_t element, core::DataType type, double stored,
                   const Interval& range);

}  // namespace dmlconform::cpu
