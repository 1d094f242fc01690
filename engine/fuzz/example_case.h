// Example cases of an operator, as a starting point for people: legal, small, packed, with simple numbers.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/cases/case.h"
#include "engine/core/data_type.h"

namespace dmlconform::fuzz {

/// Requirements for the operator's first tensor; empty: any.
struct ExampleWish {
    std::optional<std::size_t> rank{};
    std::optional<core::DataType> type{};
    core::FeatureLevel level = core::highest_feature_level;
};

/// The first input that is present, otherwise the first output; null for a descriptor without tensors.
[[nodiscard]] const core::TensorDesc* first_tensor(const operators::Descriptor& descriptor);

/// An example case. It expects the reference's outputs if the operator has a reference, otherwise no values. Empty if
/// no legal descriptor meets the requirements.
[[nodiscard]] std::optional<cases::Case> example_case(const operators::OperatorSchema& schema,
                                                      const ExampleWish& wish = {});

}  // namespace dmlconform::fuzz
