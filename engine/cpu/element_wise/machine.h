// Runs element-wise formulas over tensors, and provides their tolerances.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "engine/cpu/element_wise/row.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::element_wise {

/// Makes kernels of the rows of one file.
[[nodiscard]] Kernels kernels_of(std::vector<Row> rows);

/// Null if the family does not have the operator. The row lives as long as the program.
[[nodiscard]] const Row* find_row(std::string_view name);
/// The rows of all files, by operator.
[[nodiscard]] const std::map<std::string_view, Row>& all_rows();

/// Computes an operator by a row: its own, or, in tests, that of another operator.
void compute(const Row& row, const KernelArguments& arguments);

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
