// How much memory this process takes.
#pragma once

#include <cstdint>

namespace dmlconform::core {

/// The bytes of this process that are in memory now; 0 if the system does not tell.
[[nodiscard]] std::uint64_t resident_memory();

}  // namespace dmlconform::core
