// Kernels as they are on processors with narrower registers.
#pragma once

#include "engine/cpu/wide_registers.h"

namespace dmlconform::tests {

/// Takes back what a test has set.
class WithRegisters {
public:
    explicit WithRegisters(cpu::Registers widest) { cpu::widest_registers = widest; }
    ~WithRegisters() { cpu::widest_registers = cpu::Registers::avx512; }
    WithRegisters(const WithRegisters&) = delete;
    WithRegisters& operator=(const WithRegisters&) = delete;
};

inline constexpr cpu::Registers all_registers[] = {cpu::Registers::any, cpu::Registers::avx2, cpu::Registers::avx512};

}  // namespace dmlconform::tests
