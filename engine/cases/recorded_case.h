// Cases that expect what an engine computed.
#pragma once

#include <vector>

#include "engine/cases/case.h"
#include "engine/core/tensor.h"

namespace dmlconform::cases {

/// The case with these values where it expects none; in the order of Descriptor::outputs(), an empty tensor where there
/// is nothing to say.
[[nodiscard]] Case recorded_case(const Case& subject, const std::vector<core::Tensor>& outputs);

}  // namespace dmlconform::cases
