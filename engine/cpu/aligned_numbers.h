// Arrays of numbers aligned to a cache line, for vectorised loops.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {

template <class T>
struct RegisterAligned {
    using value_type = T;

    RegisterAligned() = default;
    template <class Other>
    RegisterAligned(const RegisterAligned<Other>& /*other*/) {
    }  // NOLINT(google-explicit-constructor): as allocators do

    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(register_bytes)));
    }
    void deallocate(T* numbers, std::size_t /*count*/) { ::operator delete(numbers, std::align_val_t(register_bytes)); }
    friend bool operator==(const RegisterAligned& /*a*/, const RegisterAligned& /*b*/) { return true; }
};

using AlignedNumbers = std::vector<double, RegisterAligned<double>>;
using AlignedFloats = std::vector<float, RegisterAligned<float>>;

}  // namespace dmlconform::cpu
