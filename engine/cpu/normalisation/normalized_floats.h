// What implementations may return for consecutive FP32 elements of a normalisation group, eight at a time. Equals
// accepted_range, which tests/cpu/slack_in_eights_test.cpp compares.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "engine/core/tolerance.h"
#include "engine/cpu/normalisation/normalized_element.h"

namespace dmlconform::cpu {

/// Consecutive elements of a group, of which no activation is computed. Scale and bias are those of `shared`, unless
/// the pointers are not null: then each element has its own.
struct NormalizedFloats {
    std::span<const double> x;
    NormalizedElement shared;
    const float* scale = nullptr;
    const float* bias = nullptr;
};

/// Stores their slack, from element `first` of the tensor on. `values` is what the reference computed. one(i) must
/// store the slack of one element: it is called for those at which an operation has a special case, and on processors
/// without wide registers for all.
void note_normalized_floats(core::ElementSlack& slack, std::size_t first, const NormalizedFloats& floats,
                            std::span<const double> values, const StatisticsRange& statistics,
                            const std::function<void(std::size_t)>& one);

}  // namespace dmlconform::cpu
