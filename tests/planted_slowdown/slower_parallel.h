// A variant of parallel_for that repeats a part of the work.
#pragma once

#include <cstdint>
#include <functional>

namespace dmlconform::cpu {

/// Like parallel_for, but repeats a percentage of the indices, which the environment variable
/// DMLCONFORM_PLANTED_SLOWDOWN sets. For a small range, only some calls repeat an index, so that the percentage is
/// right on average.
void slower_parallel_for(std::int64_t count, std::int64_t cost,
                         const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace dmlconform::cpu
