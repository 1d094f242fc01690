// Running an element-wise formula over tensors: walking them together, loading, evaluating, storing, and the tolerance.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "engine/cpu/element_wise/row.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::element_wise {

/// The rows of one file as kernels.
[[nodiscard]] Kernels kernels_of(std::vector<Row> rows);

/// Null when the family does not have the operator. The row lives as long as the program.
[[nodiscard]] const Row* find_row(std::string_view name);
/// The rows of all files, by operator.
[[nodiscard]] const std::map<std::string_view, Row>& all_rows();

/// Computes an operator by a row: its own, or, in tests, by that of another.
void compute(const Row& row, const KernelArguments& arguments);

/// An activation that is fused into another operator.
class FusedActivation {
public:
    /// Null: none. Otherwise one that can be fused.
    explicit FusedActivation(const operators::Descriptor* descriptor);

    [[nodiscard]] bool is_present() const { return row_ != nullptr; }
    /// The function's value. NaN stays NaN.
    [[nodiscard]] double operator()(double x) const;
    /// What an FP32 implementation may make of an argument that it knows this closely.
    [[nodiscard]] Interval operator()(const Interval& x) const;

private:
    const Row* row_ = nullptr;
    Context<double> context_;
    Context<Interval> interval_context_;
};

}  // namespace dmlconform::cpu::element_wise
