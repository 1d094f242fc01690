// How much memory a case takes, known before any of it is allocated.
#pragma once

#include <cstdint>

#include "engine/cases/case.h"

namespace dmlconform::run {

/// Bytes, roughly: each input once here and once in the engine, each output twice as much (the engine's and what is
/// read back; expected values and the reference's), and 16 bytes for each element of an output that is compared within
/// bounds of its own. Stays at the greatest number there is instead of overflowing. The descriptor must be legal.
[[nodiscard]] std::uint64_t memory_needed(const cases::Case& subject);

}  // namespace dmlconform::run
