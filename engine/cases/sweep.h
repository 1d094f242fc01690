// Sweeps: one written case that stands for the Cartesian product of some values.
#pragma once

#include <functional>
#include <string>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::cases {

/// Receives an expansion: the case without its sweep, and what follows its name: "[T=FLOAT16,axis=2]".
using ExpansionVisitor = std::function<void(const JsonValue& entry, const std::string& suffix)>;

/// Visits the expansions of a case in the order of the sweep's values, the last variable fastest; a case without
/// `sweep` is its own only expansion, with no suffix. A string that is exactly "${T}" becomes the value of T with its
/// JSON type, "${geometry.in}" a member of it. Reports variables that are unknown, unused or empty, and products that
/// are too large.
void for_each_expansion(const JsonValue& entry, std::size_t most, ProblemSink& problems, const ExpansionVisitor& visit);

}  // namespace dmlconform::cases
