// Names of cases of one file: legal ones, each of which there is once.
#pragma once

#include <map>
#include <set>
#include <string>

namespace dmlconform::cases {

class UniqueNames {
public:
    /// The name, with a number at its end where it was given out before.
    [[nodiscard]] std::string unique(const std::string& name);

private:
    std::set<std::string> given_;
    /// By name: how many numbers were tried.
    std::map<std::string, int> tried_;
};

}  // namespace dmlconform::cases
