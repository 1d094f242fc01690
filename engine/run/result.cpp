// Questions to results.
#include "engine/run/result.h"

#include <algorithm>
#include <array>

namespace dmlconform::run {

const char* to_string(Status status) {
    constexpr std::array<const char*, status_count> names{"pass",  "fail",    "skip",     "error",
                                                          "crash", "timeout", "reference"};
    return names[static_cast<std::size_t>(status)];
}

std::size_t RunResult::count(Status status, bool gated) const {
    return static_cast<std::size_t>(std::count_if(results.begin(), results.end(), [&](const CaseResult& result) {
        return result.status == status && result.gated == gated;
    }));
}

std::size_t RunResult::failures() const {
    return static_cast<std::size_t>(std::count_if(results.begin(), results.end(), [](const CaseResult& result) {
        return is_failure(result.status) && result.gated;
    }));
}

bool RunResult::passed() const {
    return count(Status::pass) > 0 && failures() == 0;
}

}  // namespace dmlconform::run
