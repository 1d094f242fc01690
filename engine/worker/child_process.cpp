// The platform-independent part of child processes.
#include "engine/worker/child_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dmlconform::worker {

std::string to_string(const WorkerCommand& command) {
    return fmt::format("{}", fmt::join(command.argv, " "));
}

}  // namespace dmlconform::worker
