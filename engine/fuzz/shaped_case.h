// A case of an operator that is given in a few words: the sizes of its tensors, some attributes, a data type.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/error.h"
#include "engine/fuzz/given_sizes.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::fuzz {

struct Shape {
    GivenSizes sizes{};
    /// Attributes by name, with JSON values: "Axis" and "3", "AxisDirection" and "DECREASING".
    std::vector<std::pair<std::string, std::string>> attributes{};
    /// Of the first tensor; nothing: as it comes.
    std::optional<core::DataType> type{};

    [[nodiscard]] bool any() const { return !sizes.empty() || !attributes.empty() || type; }
};

/// A case file with one case, "shape", with random inputs and without expected values. What is not given follows from
/// what is, or is plain. Where tensors are given by name, optional inputs that are not given are absent. An error where
/// no legal descriptor is like that.
[[nodiscard]] core::Result<std::string> shaped_case_file(const operators::OperatorSchema& schema, const Shape& shape);

}  // namespace dmlconform::fuzz
