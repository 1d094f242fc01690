// Conditions on a case: which descriptors, and where needed which inputs, an expectation speaks of. What can be written
// is in docs/expectations.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/expectations/case_facts.h"

namespace dmlconform::expectations {

struct Condition {
    std::function<bool(CaseFacts&)> holds;
    /// Whether it looks at elements: the others are asked first.
    bool reads_values = false;
};

/// Reads a condition for descriptors of these operators, of which there is at least one: a field has to be one of some
/// of them, and the condition does not hold for those without it. Reports what is wrong and returns nothing then.
[[nodiscard]] std::optional<Condition> read_condition(const cases::JsonValue& value,
                                                      std::span<const operators::OperatorSchema* const> operators,
                                                      cases::ProblemSink& problems);

}  // namespace dmlconform::expectations
