// The power of a tolerance: whether it rejects meaningless outputs. Passing within a tolerance that does not proves
// nothing.
#pragma once

#include <string>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// Names a meaningless output that the tolerance accepts: zeros, a constant, the expected values in reverse order, or
/// memory that was never written. Empty if the tolerance rejects all of them. A meaningless output that equals the
/// expected values up to 8 ULPs, because these are constant or symmetric, does not count. If all expected values are
/// zero, the tolerance must reject ones.
///
/// Usually a few elements decide. The arguments are those of compare().
[[nodiscard]] std::string lack_of_power(const core::Tensor& expected, const core::Tolerance& tolerance,
                                        const core::ElementSlack* slack);

}  // namespace dmlconform::compare
