// The contents of `dmlconform describe`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expectations/expectation.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::app {

/// Prints everything for people. `known`: known deviations of engines from the documentation.
void print_operator(const operators::OperatorSchema& schema, const std::vector<expectations::Expectation>& known);

/// Prints one field or rule of the operator. False if it has none of that name.
[[nodiscard]] bool print_part(const operators::OperatorSchema& schema, std::string_view part);

/// Full names of the rules that only this operator has.
[[nodiscard]] std::vector<std::string> own_rules(const operators::OperatorSchema& schema);

/// The default tolerance of the first output, with the data types of the first tensor to which it applies.
[[nodiscard]] std::map<std::string, std::vector<std::string>> default_tolerances(
    const operators::OperatorSchema& schema);

/// The URL of Microsoft's page about the operator's struct.
[[nodiscard]] std::string documentation_link(const operators::OperatorSchema& schema);

}  // namespace dmlconform::app
