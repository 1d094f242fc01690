// Adds noise to FP32 elements of several runs, sixteen at a time: what drawn_noise.h does for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/tolerance.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {

/// Packed FP32 elements of a run.
struct RowOfRun {
    float* elements = nullptr;
    std::size_t run = 0;
    /// What the run's random numbers follow from.
    std::uint64_t key = 0;
};

#if DMLCONFORM_HAS_WIDE_REGISTERS
/// For elements first … end - 1, with which rows start. The turns of elements follow from the seed. Needs AVX-512.
void add_noise_in_sixteens(std::span<const RowOfRun> rows, std::size_t first, std::size_t end,
                           const core::ElementSlack& slack, std::uint64_t seed);
#endif

}  // namespace dmlconform::cpu
