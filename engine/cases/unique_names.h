// Makes valid and unique names for the cases of a file.
#pragma once

#include <map>
#include <set>
#include <string>

namespace dmlconform::cases {

class UniqueNames {
public:
    /// Returns the name, with a number appended if it was returned before.
    [[nodiscard]] std::string unique(const std::string& name);

private:
    std::set<std::string> given_;
    /// For each name, the number of suffixes that were tried.
    std::map<std::string, int> tried_;
};

}  // namespace dmlconform::cases
