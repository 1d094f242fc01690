// Random cases of one operator: the n-th is a function of operator, seed, level and n alone, on every machine.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/cases/case.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {

struct GeneratorSettings {
    std::uint64_t seed = 1;
    /// Legal cases are legal here; others are illegal here.
    core::FeatureLevel level = core::highest_feature_level;
    /// Of a hundred cases, how many have one thing changed. Those that are illegal then have to be rejected.
    std::uint32_t perturbed_percent = 20;
};

/// The case `fuzz/SLICE1/7-12`: number 12 of seed 7. Nothing where no legal descriptor was found, or the operator does
/// not exist at the level.
[[nodiscard]] std::optional<cases::Case> generate(const operators::OperatorSchema& schema,
                                                  const GeneratorSettings& settings, std::uint64_t number);

}  // namespace dmlconform::fuzz
