// Which operators have rules. The table is written by the build, one entry for each file in rules/.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Short operator name and its rules.
extern const std::span<const std::pair<std::string_view, const OperatorRules*>> rules_registry;

}  // namespace dmlconform::operators
