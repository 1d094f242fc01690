// Names the precision in which an output was computed, and decides whether it is less than promised.
#pragma once

#include <cstddef>
#include <string>

#include "engine/core/precision.h"
#include "engine/core/tensor.h"
#include "engine/cpu/reference.h"
#include "engine/operators/descriptor.h"
#include "engine/run/result.h"

namespace dmlconform::run {

/// For messages: "TF32 (11 bits)".
[[nodiscard]] std::string shown_name(core::Precision precision);

/// The data that an output's precision is judged by.
struct PrecisionQuestion {
    const operators::Descriptor& descriptor;
    std::span<const core::Tensor* const> inputs;
    /// The reference's result for the unrounded inputs. Its slack has sigma for the output.
    const cpu::Reference& reference;
    std::size_t output = 0;
    core::Precision promised = core::Precision::fp32;
    /// The output is beyond its tolerance, so it has failed already.
    bool differs = false;
};

/// Judges the precision. Empty if the reference has no standard deviations. If the errors are larger than those of
/// FP32, the reference is computed again with inputs that are rounded to 11 and 8 bits: four times, and if that does
/// not explain them, up to 24 times with one input that is rounded alone, or in another way than the others.
[[nodiscard]] std::optional<OutputPrecision> precision_verdict(const PrecisionQuestion& question,
                                                               const core::Tensor& actual);

}  // namespace dmlconform::run
