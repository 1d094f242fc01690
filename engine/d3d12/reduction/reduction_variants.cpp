// The macros of each variant of the shaders for reductions.
#include "engine/d3d12/reduction/reduction_variants.h"

#include <initializer_list>

namespace dmlconform::d3d12 {

ShaderVariant reduction_variant(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector,
                                std::uint32_t source, std::uint32_t target, std::uint32_t kept, std::uint32_t float32) {
    return {"reduction",
            {{"COMBINE", combine},
             {"NUMBERS", numbers},
             {"VECTOR", vector},
             {"SOURCE", source},
             {"TARGET", target},
             {"KEPT", kept},
             {"FLOAT32", float32}}};
}

ShaderVariant spread_exponentials_variant(std::uint32_t kept, bool in_pairs, std::uint32_t half) {
    ShaderVariant variant = reduction_variant(COMBINE_EXPONENTIALS, NUMBERS_REAL, VECTOR_SPREAD, SOURCE_TENSOR,
                                              TARGET_ELEMENTS, kept, in_pairs ? 0 : 1);
    if (in_pairs) {
        variant.defines.emplace_back(half_macro, half);
    }
    return variant;
}

ShaderVariant spread_sum_variant(std::uint32_t target, std::uint64_t group) {
    ShaderVariant variant = reduction_variant(COMBINE_SUM, NUMBERS_REAL, VECTOR_SPREAD, SOURCE_TENSOR, target, 0, 1);
    variant.defines.emplace_back("GROUP_SIZE", static_cast<std::uint32_t>(group));
    return variant;
}

bool has_float32_variants(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector) {
    return numbers == NUMBERS_REAL && vector != VECTOR_NONE &&
           (combine == COMBINE_SUM || combine == COMBINE_EXPONENTIALS);
}

ShaderVariant apply_variant(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector) {
    return {"reduction_apply", {{"COMBINE", combine}, {"NUMBERS", numbers}, {"VECTOR", vector}}};
}

ShaderVariant cumulative_variant(std::uint32_t combine, std::uint32_t numbers) {
    return {"cumulative", {{"COMBINE", combine}, {"NUMBERS", numbers}}};
}

std::vector<ShaderVariant> variants_of(const ReductionVariants& wanted) {
    std::vector<ShaderVariant> variants;
    const auto add = [&](std::uint32_t vector, std::uint32_t source, std::uint32_t target, std::uint32_t kept = 0) {
        const bool also_float32 =
            source == SOURCE_TENSOR && has_float32_variants(wanted.combine, wanted.numbers, vector);
        for (std::uint32_t float32 = 0; float32 <= (also_float32 ? 1u : 0u); ++float32) {
            variants.push_back(
                reduction_variant(wanted.combine, wanted.numbers, vector, source, target, kept, float32));
        }
    };
    std::vector<std::uint32_t> vectors{VECTOR_NONE};
    if (wanted.numbers != NUMBERS_TWO_WORDS) {
        vectors.push_back(VECTOR_ITEMS);
        if (wanted.combine < COMBINE_DEVIATIONS) {
            vectors.push_back(VECTOR_LINES);
        }
    }
    for (const std::uint32_t vector : vectors) {
        add(vector, SOURCE_TENSOR, TARGET_PARTS);
        if (wanted.results) {
            add(vector, SOURCE_TENSOR, TARGET_RESULTS);
        }
        if (wanted.elements) {
            add(vector, SOURCE_TENSOR, TARGET_ELEMENTS);
            if (wanted.numbers == NUMBERS_REAL) {
                add(vector, SOURCE_TENSOR, TARGET_ELEMENTS, KEPT_FEW);
            }
            if (wanted.combine == COMBINE_EXPONENTIALS && vector == VECTOR_ITEMS) {
                add(vector, SOURCE_TENSOR, TARGET_ELEMENTS, KEPT_MANY);
            }
            variants.push_back(apply_variant(wanted.combine, wanted.numbers, vector));
        }
    }
    if (wanted.results && wanted.numbers == NUMBERS_REAL && wanted.combine == COMBINE_SUM) {
        variants.push_back(spread_sum_variant(TARGET_RESULTS, group_size));
        variants.push_back(spread_sum_variant(TARGET_RESULTS, large_group));
        variants.push_back(spread_sum_variant(TARGET_JOINED, group_size));
    }
    if (wanted.elements && wanted.combine == COMBINE_EXPONENTIALS) {
        for (const std::uint32_t kept : std::initializer_list<std::uint32_t>{KEPT_FEW, KEPT_MANY}) {
            variants.push_back(spread_exponentials_variant(kept, false));
            for (const std::uint32_t half : std::initializer_list<std::uint32_t>{HALF_BY_INTEGERS, HALF_BY_DEVICE}) {
                variants.push_back(spread_exponentials_variant(kept, true, half));
            }
        }
    }
    add(VECTOR_NONE, SOURCE_PARTS, TARGET_PARTS);
    if (wanted.results) {
        add(VECTOR_NONE, SOURCE_PARTS, TARGET_RESULTS);
    }
    return variants;
}

std::vector<ShaderVariant> cumulative_variants(std::uint32_t combine) {
    std::vector<ShaderVariant> variants;
    for (const std::uint32_t numbers :
         std::initializer_list<std::uint32_t>{NUMBERS_REAL, NUMBERS_WORD, NUMBERS_TWO_WORDS}) {
        variants.push_back(reduction_variant(combine, numbers, VECTOR_NONE, SOURCE_TENSOR, TARGET_PARTS, 0, 0));
        variants.push_back(cumulative_variant(combine, numbers));
    }
    return variants;
}

}  // namespace dmlconform::d3d12
