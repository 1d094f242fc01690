// The variants of the shaders for reductions: those that a planner selects, and all that are compiled.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/d3d12/planning/dispatch_plan.h"
#include "shaders/reduction/reduction_parameters.hlsli"

namespace dmlconform::d3d12 {

/// Threads of a group that reduces long lines.
inline constexpr std::uint64_t large_group = 1024;

/// A variant of shaders/reduction/reduction.hlsl. See there for what the macros mean.
[[nodiscard]] ShaderVariant reduction_variant(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector,
                                              std::uint32_t source, std::uint32_t target, std::uint32_t kept,
                                              std::uint32_t float32);

/// With pairs of FLOAT16, or with FLOAT32.
[[nodiscard]] ShaderVariant spread_exponentials_variant(std::uint32_t kept, bool in_pairs,
                                                        std::uint32_t half = HALF_BY_INTEGERS);

[[nodiscard]] ShaderVariant spread_sum_variant(std::uint32_t target, std::uint64_t group);

/// True if there are variants specialised for FLOAT32: sums and exponentials are the most frequent reductions.
[[nodiscard]] bool has_float32_variants(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector);

[[nodiscard]] ShaderVariant apply_variant(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector);

[[nodiscard]] ShaderVariant cumulative_variant(std::uint32_t combine, std::uint32_t numbers);

/// All shader variants that a planner may use for reductions that end in results, in elements, or in parts.
struct ReductionVariants {
    std::uint32_t combine = 0;
    std::uint32_t numbers = 0;
    bool results = true;
    bool elements = false;
};
[[nodiscard]] std::vector<ShaderVariant> variants_of(const ReductionVariants& wanted);
/// The variants of to_cumulated.
[[nodiscard]] std::vector<ShaderVariant> cumulative_variants(std::uint32_t combine);

}  // namespace dmlconform::d3d12
