// Cases of an operator from a short description: sizes of tensors, some attributes, a data type.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/error.h"
#include "engine/fuzz/given_sizes.h"
#include "engine/fuzz/given_strides.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::fuzz {

struct Shape {
    GivenSizes sizes{};
    GivenStrides strides{};
    /// Attributes by name, with JSON values: "Axis" and "3", "AxisDirection" and "DECREASING".
    std::vector<std::pair<std::string, std::string>> attributes{};
    /// The data type of the first tensor; empty: any.
    std::optional<core::DataType> type{};
};

/// The text of a case file with one case, which has random inputs and no expected values, and is named after its
/// contents. Everything that is not given follows from what is given, or is neutral. If tensors are given by name,
/// other optional inputs are absent. Inputs that must have equal sizes are broadcast by strides of 0, as in NumPy.
/// Fails if no legal descriptor matches.
[[nodiscard]] core::Result<std::string> shaped_case_file(const operators::OperatorSchema& schema, const Shape& shape);

}  // namespace dmlconform::fuzz
