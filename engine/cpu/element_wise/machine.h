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

}  // namespace dmlconform::cpu::element_wise
