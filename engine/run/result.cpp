// Names of statuses.
#include "engine/run/result.h"

#include <array>

namespace dmlconform::run {

const char* to_string(Status status) {
    constexpr std::array<const char*, status_count> names{"pass",    "fail",      "skip",  "error", "crash",
                                                          "timeout", "reference", "xfail", "xpass", "flake"};
    return names[static_cast<std::size_t>(status)];
}

}  // namespace dmlconform::run
