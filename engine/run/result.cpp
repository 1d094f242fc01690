// Names of statuses, and one-line messages of results.
#include "engine/run/result.h"

#include <fmt/format.h>

#include <array>

namespace dmlconform::run {

const char* to_string(Status status) {
    constexpr std::array<const char*, status_count> names{"pass",    "fail",      "skip",  "error", "crash",
                                                          "timeout", "reference", "xfail", "xpass", "flake"};
    return names[static_cast<std::size_t>(status)];
}

std::string message_of(const CaseResult& result) {
    return result.reason + (result.difference.empty() ? "" : fmt::format(" ({})", result.difference)) +
           (result.hint.empty() ? "" : "; " + result.hint);
}

}  // namespace dmlconform::run
