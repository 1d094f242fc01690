// Which elements of an output are beyond a tolerance.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compare/criteria.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// Row-major indices of these elements. The arguments are those of compare().
[[nodiscard]] std::vector<std::uint64_t> elements_beyond(const core::Tensor& expected, const core::Tensor& actual,
                                                         const Criteria& tolerance, const core::ElementSlack* slack);

}  // namespace dmlconform::compare
