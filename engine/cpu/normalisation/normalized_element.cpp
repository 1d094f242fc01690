// The error budget of a normalised element, derived from its formula.
#include "engine/cpu/normalisation/normalized_element.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {
namespace {

struct Precision {
    /// Distance from 1 to the next number.
    double epsilon;
    /// The largest loss by flushing a subnormal number: the smallest normal number, or 0 where D3D forbids flushing.
    double flush;
};

Precision precision_of(core::DataType type) {
    if (type == core::DataType::float16) {
        return {0x1p-10, 0};
    }
    return {0x1p-23, double{std::numeric_limits<float>::min()}};
}

/// The number of roundings that each magnitude of the budget may accumulate, in units of the output type's epsilon.
///
/// An FP32 implementation with pairwise sums over n elements rounds log2(n) times on the way to the mean and as often
/// to the variance, and about eight more times (division by n, subtraction, square, reciprocal root at 1 ULP, two
/// products, bias, final rounding). Each rounding is half an epsilon. Independent roundings add like a random walk:
/// with overwhelming probability k of them stay within 1.5 sqrt(k) times a single one (Higham & Mary 2019, "A new
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

double variance_of_mean(double count, double squares, double mean) {
    return sum_variance(count, squares, count * mean) / (count * count) + rounding_variance(mean);
}

double relative_variance_of_rstd(double count, double fourth_powers, double variance, double epsilon,
                                 double mean_variance) {
    // The difference from the mean is rounded, which squaring doubles, and the square is rounded. Then follow the sum
    // and the division by the count. An error e of the mean increases the variance by e^2, whose mean square is three
    // times the squared variance of e.
    const double of_squares = (rounding_variance(2) + rounding_variance(1)) * fourth_powers;
    const double of_variance = (of_squares + sum_variance(count, fourth_powers, count * variance)) / (count * count) +
                               rounding_variance(variance) + 3 * mean_variance * mean_variance;
    // The addition of epsilon, whose error the root halves, then a root and a reciprocal of 1 ULP each.
    const double sum = variance + epsilon;
    const double of_functions = rounding_variance(0.5) + 2 * rounding_variance(2);
    return of_variance / (4 * sum * sum) + of_functions;
}

namespace {

/// True if a product of some of the factors may exceed FP32's range, in any order of multiplication.
bool may_overflow(const NormalizedElement& element) {
    const double centred = std::fabs(element.centred) + element.mean_magnitude;
    const double scale = std::max(std::fabs(element.scale), 1.0);
    const double largest = std::max({centred * scale, centred * element.rstd * scale, element.rstd * scale});
    return largest + std::fabs(element.bias) > double{std::numeric_limits<float>::max()};
}

/// The variance of scale * (x - mean) * rstd + bias or of x * factor + (bias - mean * factor), whichever is larger.
double variance_of(const NormalizedElement& element, core::DataType type) {
    const double value = normalized(element);
    const double gain = element.scale * element.rstd;
    const double product = gain * element.centred;
    const double shared = gain * gain * element.mean_variance + product * product * element.relative_rstd_variance;
    const double mean = element.mean;
    const double by_distance = 3 * rounding_variance(product);
    const double by_factor = rounding_variance(gain * (element.centred + mean)) + rounding_variance(product) +
                             rounding_variance(gain * mean) + rounding_variance(element.bias - gain * mean);
    const double stored = type == core::DataType::float16 ? float16_rounding_variance(value) : rounding_variance(value);
    return shared + std::max(by_distance, by_factor) + stored;
}

}  // namespace

Interval accepted_range(const NormalizedElement& element, const element_wise::FusedActivation& activation,
                        core::DataType type) {
    const auto [epsilon, flush] = precision_of(type);
    const double gain = std::fabs(element.scale) * element.rstd;
    const double magnitude = gain * (std::fabs(element.centred) + element.mean_magnitude) + std::fabs(element.bias);
    const double slack = budget_roundings * epsilon * magnitude + flush * (gain + 1);
    const double value = normalized(element);
    if (std::isfinite(value) && may_overflow(element)) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return {-infinity, infinity, true};
    }
    const bool known = !std::isfinite(value) || !(slack > 0);
    const Interval argument =
        known ? Interval(value) : Interval(value - slack, value + slack, false, value, variance_of(element, type));
    return activation.is_present()
               ? element_wise::stored_range(type, activation(argument), element_wise::Store::wrapping)
               : argument;
}

/// Bounds for each element instead of a number of ULPs: see accepted_range.
core::Tolerance normalization_tolerance() {
    return {.exact = false,
            .ulp = {},
            .abs = {},
            .rel = {},
            .element_slack = true,
            .slack_formula = "4 eps * (|Scale| * rstd * (|x - mean| + mean|x|) + |Bias|), eps being the data type's"};
}

}  // namespace dmlconform::cpu
