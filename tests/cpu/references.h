// Helpers that compute the reference and the ranges that the comparison accepts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <vector>

#include "engine/cpu/interval.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {

/// The reference of a legal descriptor. Absent inputs are null.
inline cpu::Reference reference_of(const operators::Descriptor& descriptor,
                                   const std::vector<const core::Tensor*>& inputs) {
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    EXPECT_FALSE(verdict) << verdict->message;
    return cpu::compute_reference(descriptor, inputs);
}

/// The same without absent inputs.
template <std::same_as<core::Tensor>... Tensors>
cpu::Reference reference_of(const operators::Descriptor& descriptor, const Tensors&... inputs) {
    return reference_of(descriptor, std::vector<const core::Tensor*>{&inputs...});
}

/// The range that the comparison accepts for element `i` of an FP32 output.
inline cpu::Interval accepted(const cpu::Reference& reference, std::size_t i, std::size_t output = 0) {
    const double value = double{values_of<float>(reference.outputs[output])[i]};
    constexpr double largest = std::numeric_limits<float>::max();
    const double from = std::clamp(value, -largest, largest);
    const auto& slack = reference.slack[output];
    return {from - slack.below[i], from + slack.above[i], slack.nan[i] != 0};
}

}  // namespace dmlconform::tests
