// Runs kernels as on processors with narrower registers.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/cpu/kernel.h"
#include "engine/cpu/wide_registers.h"
#include "engine/operators/rules.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests {

/// Limits the width of registers until the end of the scope.
class WithRegisters {
public:
    explicit WithRegisters(cpu::Registers widest) { cpu::widest_registers = widest; }
    ~WithRegisters() { cpu::widest_registers = cpu::Registers::avx512; }
    WithRegisters(const WithRegisters&) = delete;
    WithRegisters& operator=(const WithRegisters&) = delete;
};

inline constexpr cpu::Registers all_registers[] = {cpu::Registers::any, cpu::Registers::avx2, cpu::Registers::avx512};

/// Computes all outputs of a legal descriptor.
inline std::vector<core::Tensor> computed(cpu::Registers widest, const operators::Descriptor& descriptor,
                                          const std::vector<const core::Tensor*>& inputs) {
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    EXPECT_FALSE(verdict) << verdict->message;
    const WithRegisters registers(widest);
    std::vector<core::Tensor> outputs;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        outputs.push_back(blank_tensor(*slot.desc));
    }
    std::vector<core::Tensor*> pointers;
    for (core::Tensor& output : outputs) {
        pointers.push_back(&output);
    }
    cpu::find_kernel(descriptor.schema->short_name())
        ->compute({.descriptor = descriptor, .inputs = inputs, .outputs = pointers, .slack = {}});
    return outputs;
}

}  // namespace dmlconform::tests
