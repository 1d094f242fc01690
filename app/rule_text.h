// The part of `dmlconform describe` about rules, and about single rules and fields.
#pragma once

#include <string>
#include <string_view>

#include "engine/operators/catalogue.h"

namespace dmlconform::app {

/// Prints the rules that are not the same for all operators, each with a sentence and its formulas.
void print_rules(const operators::OperatorSchema& schema);

/// Prints a rule of the operator, "outputSizes", "CONVOLUTION.outputSizes" or "tensor.totalSize". False if it has none
/// of that name.
[[nodiscard]] bool print_rule(const operators::OperatorSchema& schema, std::string_view name);

/// Prints the rules whose text names the field.
void print_rules_about(const operators::OperatorSchema& schema, std::string_view field);

/// True for rules that are the same for all operators, such as "tensor.totalSize".
[[nodiscard]] bool is_rule_of_all(std::string_view name);

/// The rules of all operators in Markdown, operators with equal rules together.
[[nodiscard]] std::string rules_document();

}  // namespace dmlconform::app
