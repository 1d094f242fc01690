// Lists the operators that have rules in code. The build writes the table, one entry for each file in rules/.
#pragma once

#include <span>

#include "engine/core/registry.h"
#include "engine/operators/rules.h"

namespace dmlconform::operators {

extern const std::span<const core::RegistryFile<RulesRows>> rules;

}  // namespace dmlconform::operators
