// Loads memory into the caches before it is needed.
#pragma once

#include <cstdint>

namespace dmlconform::cpu {

/// Only if the compiler knows how. The address need not be valid.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

/// All lines of `count` numbers.
template <class T>
void prefetch_all(const T* numbers, std::int64_t count) {
    constexpr auto numbers_of_line = static_cast<std::int64_t>(64 / sizeof(T));
    for (std::int64_t i = 0; i < count; i += numbers_of_line) {
        prefetch(numbers + i);
    }
    prefetch(numbers + count - 1);
}

}  // namespace dmlconform::cpu
