// The error budget of a normalised element, from its formula.
#include "engine/cpu/normalized_element.h"

#include <cmath>
#include <limits>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {
namespace {

struct Precision {
    /// Distance from 1 to the next number.
    double epsilon;
    /// What flushing a subnormal can lose: the smallest normal number, or 0 where D3D forbids flushing.
    double flush;
};

Precision precision_of(core::DataType type) {
    if (type == core::DataType::float16) {
        return {0x1p-10, 0};
    }
    return {0x1p-23, double{std::numeric_limits<float>::min()}};
}

/// Roundings, in units of the output type's epsilon, that each of the budget's magnitudes may have gone through.
///
/// An FP32 implementation with pairwise sums over n elements rounds log2(n) times on the way to the mean and as
/// often to the variance, and about eight times besides (division by n, subtraction, square, reciprocal root at 1 ULP,
/// two products, bias, final rounding). Each rounding is half an epsilon. Independent roundings add like a random walk:
/// k of them stay, with overwhelming probability, within 1.5 sqrt(k) times the single one (Higham & Mary 2019, "A new
/// approach to probabilistic rounding error analysis"). For n = 2^20, k = 28: 1.5 * sqrt(28) / 2 = 4.0.
constexpr double budget_roundings = 4;

}  // namespace

double normalized(const NormalizedElement& element) {
    return element.scale * element.centred * element.rstd + element.bias;
}

void normalize(std::span<double> values, double mean, NormalizedElement shared) {
    in_wide_registers([&] {
        NormalizedElement element = shared;
        for (double& value : values) {
            element.centred = value - mean;
            value = normalized(element);
        }
    });
}

Interval accepted_range(const NormalizedElement& element, const element_wise::FusedActivation& activation,
                        core::DataType type) {
    const auto [epsilon, flush] = precision_of(type);
    const double gain = std::fabs(element.scale) * element.rstd;
    const double magnitude = gain * (std::fabs(element.centred) + element.mean_magnitude) + std::fabs(element.bias);
    const double slack = budget_roundings * epsilon * magnitude + flush * (gain + 1);
    const double value = normalized(element);
    const bool known = !std::isfinite(value) || !(slack > 0);
    const Interval argument = known ? Interval(value) : Interval(value - slack, value + slack, false);
    return activation.is_present()
               ? element_wise::stored_range(type, activation(argument), element_wise::Store::wrapping)
               : argument;
}

/// A budget for each element instead of a count of ULPs: see accepted_range.
core::Tolerance normalization_tolerance() {
    return {.exact = false,
            .ulp = {},
            .abs = {},
            .rel = {},
            .element_slack = true,
            .slack_formula = "4 eps * (|Scale| * rstd * (|x - mean| + mean|x|) + |Bias|), eps being the data type's"};
}

}  // namespace dmlconform::cpu
