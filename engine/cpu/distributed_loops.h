// Tells whether the reference used several threads.
#pragma once

#include <cstdint>

namespace dmlconform::cpu {

/// How many loops of the calling thread parallel_for has distributed over several threads since the thread started.
[[nodiscard]] std::uint64_t distributed_loops();

}  // namespace dmlconform::cpu
