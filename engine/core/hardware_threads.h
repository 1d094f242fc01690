// How many threads of this process run at a time.
#pragma once

#include <string>

namespace dmlconform::core {

/// The processors that this process may run on, at least 1: as taskset, a container or a batch system restricts them,
/// which std::thread::hardware_concurrency() does not see everywhere.
[[nodiscard]] unsigned hardware_threads();

/// "2 hardware threads".
[[nodiscard]] std::string hardware_threads_text();

}  // namespace dmlconform::core
