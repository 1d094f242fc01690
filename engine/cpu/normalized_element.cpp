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

void normalize(std::span<const float> from, double mean, const NormalizedElement& shared, const float* scale,
               const float* bias, float* to) {
    const auto normalize_each = [=](const auto& scale_of, const auto& bias_of) {
        in_wide_registers([=] {
            NormalizedElement element = shared;
            for (std::size_t i = 0; i < from.size(); ++i) {
                element.centred = double{from[i]} - mean;
                element.scale = scale_of(i);
                element.bias = bias_of(i);
                to[i] = static_cast<float>(normalized(element));
            }
        });
    };
    const auto shared_scale = [number = shared.scale](std::size_t) { return number; };
    const auto shared_bias = [number = shared.bias](std::size_t) { return number; };
    const auto own_scale = [scale](std::size_t i) { return double{scale[i]}; };
    const auto own_bias = [bias](std::size_t i) { return double{bias[i]}; };
    if (scale == nullptr) {
        bias == nullptr ? normalize_each(shared_scale, shared_bias) : normalize_each(shared_scale, own_bias);
    } else {
        bias == nullptr ? normalize_each(own_scale, shared_bias) : normalize_each(own_scale, own_bias);
    }
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
