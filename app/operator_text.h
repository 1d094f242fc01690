// What `dmlconform describe` knows of an operator.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/expectations/expectation.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::app {

/// Everything, for a person. `known`: what engines are known to do otherwise than the documentation says.
void print_operator(const operators::OperatorSchema& schema, const std::vector<expectations::Expectation>& known);

/// The rules that only this operator has, by their full names.
[[nodiscard]] std::vector<std::string> own_rules(const operators::OperatorSchema& schema);

/// The tolerance of the first output by default, with the types of the first tensor for which it is that.
[[nodiscard]] std::map<std::string, std::vector<std::string>> default_tolerances(
    const operators::OperatorSchema& schema);

/// Microsoft's page about the operator's struct.
[[nodiscard]] std::string documentation_link(const operators::OperatorSchema& schema);

}  // namespace dmlconform::app
