// A case of an operator for people to start from: legal, small, packed, and with plain numbers.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/cases/case.h"
#include "engine/core/data_type.h"

namespace dmlconform::fuzz {

/// What the operator's first tensor is to be like; nothing: as it comes.
struct ExampleWish {
    std::optional<std::size_t> rank{};
    std::optional<core::DataType> type{};
    core::FeatureLevel level = core::highest_feature_level;
};

/// The first input that is there, or else the first output; null for a descriptor without tensors.
[[nodiscard]] const core::TensorDesc* first_tensor(const operators::Descriptor& descriptor);

/// Expects what the reference computes, of an operator that has one; otherwise no values. Nothing where no legal
/// descriptor is like that.
[[nodiscard]] std::optional<cases::Case> example_case(const operators::OperatorSchema& schema,
                                                      const ExampleWish& wish = {});

}  // namespace dmlconform::fuzz
