// Appends numbers to names that occur repeatedly.
#include "engine/cases/unique_names.h"

#include <fmt/format.h>

namespace dmlconform::cases {

std::string UniqueNames::unique(const std::string& name) {
    std::string candidate = name;
    for (int& tried = tried_[name]; given_.contains(candidate);) {
        candidate = fmt::format("{}-{}", name, tried++ + 2);
    }
    given_.insert(candidate);
    return candidate;
}

}  // namespace dmlconform::cases
