// Operators that have the same struct but for its name, as the 19 of one input, one output and a ScaleBias have. In the
// schema of case files they share one definition.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/cases/schema_values.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::cases {

/// Never empty.
struct OperatorGroup {
    std::vector<const operators::OperatorSchema*> operators;

    /// All names that case files may use: short ones, then full ones.
    [[nodiscard]] std::vector<std::string> names() const;
    /// A name for definitions, which does not change when there are other groups: the number of the first operator.
    [[nodiscard]] std::string id() const;
};

/// Of the operators with these full names, in the order of their numbers.
[[nodiscard]] std::vector<OperatorGroup> operator_groups(const std::set<std::string>& names);

}  // namespace dmlconform::cases
