// Activations that are fused into other operators.
#pragma once

#include "engine/cpu/element_wise/row.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::element_wise {

/// The activation that is fused into another operator.
class FusedActivation {
public:
    /// Null means no activation. Otherwise it must be one that can be fused.
    explicit FusedActivation(const operators::Descriptor* descriptor);

    [[nodiscard]] bool is_present() const { return row_ != nullptr; }
    /// The value of the function; NaN for NaN.
    [[nodiscard]] double operator()(double x) const;
    /// What an FP32 implementation may return for an argument in this interval. For NaN that is NaN, and also what the
    /// function has for NaN where it is an operator by itself: 0 of CELU, HARD_SIGMOID and SHRINK. Measured on DirectML
    /// 1.15.4: these give 0, and RELU, which gives 0 by itself, gives NaN.
    [[nodiscard]] Interval operator()(const Interval& x) const;

private:
    const Row* row_ = nullptr;
    Context<double> context_;
    Context<Interval> interval_context_;
};

}  // namespace dmlconform::cpu::element_wise
