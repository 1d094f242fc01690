// How much memory the machine has.
#pragma once

#include <cstdint>

namespace dmlconform::run {

/// In bytes; the greatest number there is where the system does not say.
[[nodiscard]] std::uint64_t physical_memory();

}  // namespace dmlconform::run
