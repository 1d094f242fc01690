// The error bounds of a normalised element, derived from its formula.
#include "engine/cpu/normalisation/normalized_element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/core/floating_format.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/normalisation/normalisation_range.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {

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

namespace {

/// How far sums of n numbers are off if each number is rounded `more` times as well. Either they grow in a tree, in
/// which every rounding may go in the worst direction, or one number is added after the other, in any order, and the
/// roundings are independent. Running means, and means of parts that are merged, round as often, also where sums are
/// exact.
///
/// Independent roundings, each of at most half an epsilon, are sub-Gaussian with a third of the sum of their squares as
/// the variance. They exceed 7 standard deviations in fewer than one of 10^10 groups: 2 exp(-7^2 / 2) is 5 * 10^-11.
/// `squared_counts` is that sum: see squared_counts_of.
double error_of_sum(double count, double squared_counts, double largest_partial_sum, double more) {
    constexpr double most_deviations = 7;
    const double of_tree = (std::ceil(std::log2(count)) + more) * core::float32.one_rounding;
    const double one_by_one = most_deviations * std::sqrt((squared_counts + more) / 3) * core::float32.half_rounding;
    const double worst = (count - 1 + more) * core::float32.one_rounding;
    return std::min(worst, std::max(of_tree, one_by_one)) * largest_partial_sum + core::float32.smallest_normal;
}

/// Sorts numbers by one byte after the other, the last one first, so that equal numbers become neighbours.
void bring_together(std::vector<std::uint32_t>& numbers) {
    constexpr int bits = 8;
    std::vector<std::uint32_t> sorted(numbers.size());
    for (int shift = 0; shift < std::numeric_limits<std::uint32_t>::digits; shift += bits) {
        const auto byte_of = [shift](std::uint32_t number) { return number >> shift & ((1U << bits) - 1); };
        std::array<std::size_t, std::size_t{1} << bits> positions{};
        for (const std::uint32_t number : numbers) {
            ++positions[byte_of(number)];
        }
        std::exclusive_scan(positions.begin(), positions.end(), positions.begin(), std::size_t{0});
        for (const std::uint32_t number : numbers) {
            sorted[positions[byte_of(number)]++] = number;
        }
        numbers.swap(sorted);
    }
}

/// The sum of m * m over all distinct terms, of which m are equal. Equal terms are rounded by the same amount while the
/// sum stays between two powers of two, so that m of them are off by up to m half epsilons together.
template <class TermOf>
double squared_counts_of(std::span<const double> numbers, const TermOf& term_of) {
    std::vector<std::uint32_t> terms;
    terms.reserve(numbers.size());
    for (const double number : numbers) {
        const auto term = static_cast<float>(term_of(number));
        if (!std::isnan(term)) {
            terms.push_back(std::bit_cast<std::uint32_t>(term + 0.0F));  // -0 equals 0
        }
    }
    bring_together(terms);
    double sum = 0;
    for (auto first = terms.begin(); first != terms.end();) {
        const auto next = std::find_if(first, terms.end(), [first](std::uint32_t term) { return term != *first; });
        const auto count = static_cast<double>(next - first);
        sum += count * count;
        first = next;
    }
    return sum;
}

/// Numbers that are at most so far from an exact one, with the value and the variance of x. If x has an infinity,
/// partial sums may overflow: then it stays as it is, and running sums may subtract infinities, which gives NaN.
Interval with_ends(Interval x, double exact, double below, double above) {
    if (x.has_numbers() && !x.nan && std::isfinite(x.low) && std::isfinite(x.high)) {
        return {exact - below, exact + above, false, x.value, x.variance};
    }
    x.nan = x.nan || std::isfinite(exact);
    return x;
}

Interval mean_of(std::span<const double> numbers, double mean, const normalisation::PassesRange& none, double passes) {
    const Interval in_any_order = normalisation::mean_range(numbers, none);
    if (numbers.size() == 1) {
        return in_any_order;
    }
    double positive = 0;
    double negative = 0;
    for (const double number : numbers) {
        positive += std::max(number, 0.0);
        negative += std::max(-number, 0.0);
    }
    const auto count = static_cast<double>(numbers.size());
    // Exact sums do not round, and updated means round numbers that differ even if the terms are equal.
    const bool is_exact = in_any_order.high - in_any_order.low <=
                          8 * core::float32.one_rounding * std::fabs(mean) + count * core::float32.smallest_normal;
    const double squared_counts = is_exact ? count : squared_counts_of(numbers, [](double number) { return number; });
    // Each pass divides, or multiplies by a rounded reciprocal.
    const double off = error_of_sum(count, squared_counts, std::max(positive, negative) / count, 2 * passes);
    return with_ends(in_any_order, mean, off, off);
}

/// About a mean that may be off, which makes the variance larger.
Interval variance_of_group(std::span<const double> numbers, double mean, const Interval& mean_range,
                           const normalisation::PassesRange& none, double passes) {
    const auto square_of = [mean](double number) { return (number - mean) * (number - mean); };
    double squares = 0;
    for (const double number : numbers) {
        squares += square_of(number);
    }
    const auto count = static_cast<double>(numbers.size());
    const double exact = squares / count;
    // A distance is rounded, which squaring doubles, and so is the square.
    const double error = error_of_sum(count, squared_counts_of(numbers, square_of), exact, 2 * passes + 3);
    const double shift = std::max(mean_range.high - mean, mean - mean_range.low);
    return with_ends(normalisation::variance_range(numbers, mean, mean_range, none), exact, std::min(error, exact),
                     error + shift * shift * (1 + (count + 5) * core::float32.one_rounding));
}

/// What is left of a variance in a FLOAT16 tensor. Measured on DirectML 1.15.4: 65504 if it is larger.
Interval in_float16(const Interval& variance) {
    if (!variance.has_numbers()) {
        return variance;
    }
    const auto stored = [](double number, double rounding) {
        const double flushed = number < core::float16.smallest_normal
                                   ? number + (rounding < 0 ? -number : core::float16.smallest)
                                   : number * (1 + rounding);
        return std::min(flushed, core::float16.largest);
    };
    const double low = stored(std::max(variance.low, 0.0), -core::float16.one_rounding);
    const double high = stored(std::max(variance.high, 0.0), core::float16.one_rounding);
    return {low, high, variance.nan};
}

}  // namespace

StatisticsRange statistics_range(std::span<const double> numbers, double mean, const StatisticsAttributes& attributes) {
    const normalisation::PassesRange none(core::DataType::float32, attributes.dimensions);
    const double passes = std::max(static_cast<double>(attributes.dimensions), 1.0);
    StatisticsRange range;
    if (attributes.subtract_mean) {
        range.mean = normalisation::maybe_stored(attributes.type, mean_of(numbers, mean, none, passes));
    }
    if (attributes.normalize_variance) {
        Interval variance = variance_of_group(numbers, mean, range.mean, none, passes);
        if (attributes.stores) {
            variance = in_float16(variance);
        } else if (variance.low >= core::float16.smallest_normal && variance.high <= core::float16.largest) {
            variance = normalisation::maybe_stored(attributes.type, variance);
        }
        range.rstd = normalisation::reciprocal_root(variance, attributes.epsilon);
    }
    return range;
}

Interval accepted_range(double x, const NormalizedElement& element, const StatisticsRange& statistics,
                        const element_wise::FusedActivation& activation, core::DataType type) {
    return accepted_range(x, element, {statistics.mean, statistics.rstd, element.scale, element.bias}, activation,
                          type);
}

Interval accepted_range(double x, const NormalizedElement& element, const normalisation::NormalisationRange& normalise,
                        const element_wise::FusedActivation& activation, core::DataType type) {
    const double value = normalized(element);
    Interval argument = normalise(x);
    if (std::isfinite(value)) {
        argument = argument.with_expected(value, variance_of(element, type));
    }
    return element_wise::stored_range(
        type, activation.is_present() ? activation(normalisation::maybe_stored(type, argument)) : argument,
        element_wise::Store::wrapping);
}

/// Bounds for each element instead of a number of ULPs: see accepted_range.
core::Tolerance normalization_tolerance() {
    return {.exact = false,
            .ulp = {},
            .abs = {},
            .rel = {},
            .element_slack = true,
            .slack_formula =
                "the formula on intervals: sums in a tree, or with n independent roundings, what Direct3D allows each "
                "operation, and for FLOAT16 a mean and a variance that may be FLOAT16 tensors"};
}

}  // namespace dmlconform::cpu
