// Loops spread over the processor's threads. What an index computes must not depend on the others, so that results
// do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>

namespace dmlconform::cpu {

/// Calls body(first, last) for ranges that together cover 0 … count - 1. `cost` is roughly how many elementary steps
/// one index takes; loops too small to repay a thread's start run on the caller's.
void parallel_for(std::int64_t count, std::int64_t cost, const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace dmlconform::cpu
