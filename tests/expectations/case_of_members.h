// Makes cases of the text of their members, for tests of expectations.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "engine/cases/case_file.h"

namespace dmlconform::expectations {

/// A case with these members: operator, desc, inputs.
inline cases::Case case_of(const std::string& members) {
    const auto suite =
        cases::read_case_file("some.json", fmt::format(R"({{ "cases": [ {{ "name": "a", {} }} ] }})", members));
    for (const cases::Problem& problem : suite.problems) {
        throw std::logic_error("the test's case is broken: " + to_string(problem));
    }
    return suite.cases.at(0);
}

}  // namespace dmlconform::expectations
