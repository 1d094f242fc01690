// A parallel_for that does a part of the work twice.
#pragma once

#include <cstdint>
#include <functional>

namespace dmlconform::cpu {

/// As parallel_for, and then so many percent of the indices again as the environment variable
/// DMLCONFORM_PLANTED_SLOWDOWN says. A range of few indices is done again in some calls and not in others, so that on
/// the whole it is that share.
void slower_parallel_for(std::int64_t count, std::int64_t cost,
                         const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace dmlconform::cpu
