// Conditions on a case: which descriptors, and if necessary which inputs, an expectation applies to.
// docs/expectations.md describes the syntax.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/expectations/case_facts.h"

namespace dmlconform::expectations {

struct Condition {
    std::function<bool(CaseFacts&)> holds;
    /// True if it reads elements. Other conditions are evaluated first.
    bool reads_values = false;
};

/// Reads a condition for descriptors of these operators, of which there is at least one. Each field must belong to some
/// of them; the condition does not hold for operators without the field. Reports problems; the result is then empty.
[[nodiscard]] std::optional<Condition> read_condition(const cases::JsonValue& value,
                                                      std::span<const operators::OperatorSchema* const> operators,
                                                      cases::ProblemSink& problems);

}  // namespace dmlconform::expectations
