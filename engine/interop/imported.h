// The result of importing another tool's file: cases, and a list of what has no counterpart.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dmlconform::interop {

struct Imported {
    /// In the form of case_to_json.
    std::vector<nlohmann::ordered_json> cases;
    /// What was left out and why; one line each.
    std::vector<std::string> left_out;
    /// The paths of the files that it was made from, which no output may replace.
    std::vector<std::string> files{};
};

}  // namespace dmlconform::interop
