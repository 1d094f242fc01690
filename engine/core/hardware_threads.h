// The number of threads of this process that can run at the same time.
#pragma once

#include <string>

namespace dmlconform::core {

/// The number of processors that this process may use, at least 1. Restrictions by taskset, a container or a batch
/// system count; std::thread::hardware_concurrency() ignores them on some systems.
[[nodiscard]] unsigned hardware_threads();

/// The number as text: "2 hardware threads".
[[nodiscard]] std::string hardware_threads_text();

}  // namespace dmlconform::core
