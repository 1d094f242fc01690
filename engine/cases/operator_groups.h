// Groups of operators with equal structs, such as the 19 with one input, one output and a ScaleBias. The schema of case
// files has one definition for each group.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/cases/schema_values.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::cases {

/// The operators of the group; never empty.
struct OperatorGroup {
    std::vector<const operators::OperatorSchema*> operators;

    /// All names that case files may use: first the short ones, then the full ones.
    [[nodiscard]] std::vector<std::string> names() const;
    /// A stable name for definitions: the number of the group's first operator.
    [[nodiscard]] std::string id() const;
};

/// Groups the operators with these full names, ordered by operator number.
[[nodiscard]] std::vector<OperatorGroup> operator_groups(const std::set<std::string>& names);

}  // namespace dmlconform::cases
