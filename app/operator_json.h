// The output of `dmlconform describe --json`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/operators/catalogue.h"

namespace dmlconform::app {

/// The contents of print_operator for scripts.
[[nodiscard]] nlohmann::ordered_json operator_json(const operators::OperatorSchema& schema);

}  // namespace dmlconform::app
