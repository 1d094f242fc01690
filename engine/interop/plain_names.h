// Names from other tools' files, in a form that every report can show and that is unique.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace dmlconform::interop {

class PlainNames {
public:
    /// The name, shortened, with "_" for characters that cannot be shown, and with a number appended if it was returned
    /// before.
    [[nodiscard]] std::string unique(const std::string& name);

private:
    /// For the hash of each name, the number of suffixes that were tried. Names themselves would take twice as much
    /// memory. A name with the hash of another one gets a suffix that it does not need.
    std::unordered_map<std::size_t, std::size_t> taken_;
};

}  // namespace dmlconform::interop
