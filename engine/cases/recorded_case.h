// Makes cases that expect what an engine computed.
#pragma once

#include <vector>

#include "engine/cases/case.h"
#include "engine/core/tensor.h"

namespace dmlconform::cases {

/// Copies the case and sets missing expected values to `outputs`, one for each of Descriptor::outputs(). Empty tensors
/// are ignored.
[[nodiscard]] Case recorded_case(const Case& subject, const std::vector<core::Tensor>& outputs);

}  // namespace dmlconform::cases
