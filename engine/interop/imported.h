// What came of reading another tool's file: cases, and what has no counterpart here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dmlconform::interop {

struct Imported {
    /// As case_to_json writes them.
    std::vector<nlohmann::ordered_json> cases;
    /// What was left out, with the reason; a line each.
    std::vector<std::string> left_out;
};

}  // namespace dmlconform::interop
