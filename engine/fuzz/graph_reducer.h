// Minimises failing graphs by delta debugging over their nodes.
#pragma once

#include "engine/fuzz/reducer.h"

namespace dmlconform::fuzz {

/// Returns the node that fails separately as a case of an operator, which `reduce` minimises further; otherwise the
/// smallest set of nodes that fails together. Values of removed nodes become inputs with the reference's values. The
/// case must have a graph whose operators all have a reference.
[[nodiscard]] core::Result<Reduction> reduce_graph(const cases::Case& subject, Engine& engine,
                                                   const ReduceSettings& settings);

}  // namespace dmlconform::fuzz
