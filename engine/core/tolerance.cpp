// Printing of tolerances.
#include "engine/core/tolerance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dmlconform::core {

std::string to_string(const Tolerance& tolerance) {
    std::vector<std::string> parts;
    if (tolerance.exact) {
        parts.emplace_back("exact");
    }
    if (tolerance.ulp) {
        parts.push_back(fmt::format("{} ulp", *tolerance.ulp));
    }
    if (tolerance.abs) {
        parts.push_back(fmt::format("{} abs", *tolerance.abs));
    }
    if (tolerance.rel) {
        parts.push_back(fmt::format("{} rel", *tolerance.rel));
    }
    if (tolerance.element_slack) {
        parts.emplace_back(tolerance.slack_formula.empty() ? "the operator's bound for each element"
                                                           : tolerance.slack_formula);
    }
    if (tolerance.alternatives) {
        parts.emplace_back("another value that may end up there");
    }
    return fmt::format("{}{}", fmt::join(parts, " or "),
                       tolerance.meaningful_part ? ", as far as elements mean something" : "");
}

}  // namespace dmlconform::core
