// Loads memory into the caches before it is needed.
#pragma once

namespace dmlconform::cpu::product {

/// Only if the compiler knows how. The address need not be valid.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

}  // namespace dmlconform::cpu::product
