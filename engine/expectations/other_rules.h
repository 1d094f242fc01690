// Rules that engines are known to apply instead of the documented ones. An entry about illegal descriptors names one
// (`"meets"`) to say which of them an engine accepts. docs/expectations.md says what each of them requires.
#pragma once

#include <span>
#include <string_view>

#include "engine/operators/descriptor.h"

namespace dmlconform::expectations {

struct OtherRule {
    /// What expectations call it.
    std::string_view name;
    /// Short names of the operators that have it. Empty: all.
    std::span<const std::string_view> operators;
    /// Every tensor that is not optional is there, and arrays have the entries that the operator expects.
    bool (*holds)(const operators::Descriptor& descriptor);
};

[[nodiscard]] std::span<const OtherRule> other_rules();

/// Null if the operator has no such rule.
[[nodiscard]] const OtherRule* find_other_rule(const operators::OperatorSchema& schema, std::string_view name);

/// False for an operator without such a rule, and where tensors or entries of arrays are missing.
[[nodiscard]] bool meets_other_rule(const operators::Descriptor& descriptor, std::string_view name);

}  // namespace dmlconform::expectations
