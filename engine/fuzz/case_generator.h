// Random cases of one operator. The n-th case depends only on operator, seed, level and n, on every machine.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/cases/case.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {

struct GeneratorSettings {
    std::uint64_t seed = 1;
    /// Cases are legal or illegal with respect to this level.
    core::FeatureLevel level = core::highest_feature_level;
    /// Percentage of cases with one random change. Those that become illegal must be rejected.
    std::uint32_t perturbed_percent = 20;
    /// Percentage of legal cases with NaN, infinities, and huge and tiny numbers among the attributes and elements that
    /// the operator computes with.
    std::uint32_t extreme_percent = 0;
    /// False if only descriptors matter: cases then have no inputs, which take most of the time.
    bool with_inputs = true;
};

/// The case `fuzz/SLICE1/7-12` has number 12 and seed 7. Empty if no legal descriptor was found, or if the operator
/// does not exist at the level.
[[nodiscard]] std::optional<cases::Case> generate(const operators::OperatorSchema& schema,
                                                  const GeneratorSettings& settings, std::uint64_t number);

}  // namespace dmlconform::fuzz
