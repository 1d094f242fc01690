// Loops that are distributed over the processor's threads. Iterations must be independent, so that results do not
// depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>

namespace dmlconform::cpu {

/// Calls body(first, last) for ranges that together cover 0 … count - 1. `cost` is the approximate number of elementary
/// steps per index. Loops that are too short for another thread run on the caller's.
void parallel_for(std::int64_t count, std::int64_t cost, const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace dmlconform::cpu
