// From the interval of what may be stored for an element to the bounds that the comparison takes.
#pragma once

#include <cstddef>

#include "engine/core/data_type.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/interval.h"

namespace dmlconform::cpu::element_wise {

/// `stored` is the expected element; `range` holds what an implementation may have stored instead.
void set_slack(core::ElementSlack& slack, std::size_t element, core::DataType type, double stored,
               const Interval& range);

}  // namespace dmlconform::cpu::element_wise
