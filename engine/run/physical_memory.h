// The size of the machine's memory.
#pragma once

#include <cstdint>

namespace dmlconform::run {

/// In bytes; UINT64_MAX if the system does not tell.
[[nodiscard]] std::uint64_t physical_memory();

}  // namespace dmlconform::run
