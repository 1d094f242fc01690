// The processor time of threads and other processes, and how long they waited for a processor.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace dmlconform::core {

struct ProcessorUse {
    /// The processor time of a thread, or of all threads of a process.
    std::chrono::nanoseconds used{};
    /// How long the thread, or the process's first thread, was ready to run while other threads had the processors.
    std::chrono::nanoseconds waited{};
};

/// Both since the start of the calling thread. Empty if the system does not tell; only Linux does.
[[nodiscard]] std::optional<ProcessorUse> processor_use_of_this_thread();

/// Both since the start of a process, which may have ended. Empty if the system does not tell.
[[nodiscard]] std::optional<ProcessorUse> processor_use_of_process(std::int64_t process);

}  // namespace dmlconform::core
