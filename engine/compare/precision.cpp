// Compares errors with the standard deviation that the reference gives for each element.
#include "engine/compare/precision.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <unordered_set>

#include "engine/compare/element_difference.h"
#include "engine/compare/element_pairs.h"
#include "engine/core/floating_format.h"

namespace dmlconform::compare {
namespace {

/// Elements with a smaller standard deviation are ignored. Direct3D may flush FP32 intermediate results below 2^-126 to
/// zero, which would look like coarse rounding. This limit leaves room for 2^26 such results.
constexpr double least_sigma = 0x1p-100;

/// FLOAT16's smallest normal number. Results below may be flushed to zero.
constexpr double least_float16 = core::float16.smallest_normal;

/// A bias of n elements that exceeds this divided by √n has a probability of less than 10^-6: exp(-b²·n/2).
constexpr double highest_honest_bias = 5.3;

/// Half a unit in the last place (ULP) of the value.
double half_unit(float value) {
    const float power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0x7f800000u);
    return power == 0 ? 0x1p-150 : double{power} * 0x1p-24;
}

double half_unit(core::Float16 value) {
    return std::ldexp(1.0, std::max((value.bits >> 10) & 0x1f, 1) - 26);
}

/// Number of significant bits, from the leading one to the last one that is set; 0 for zero.
int bits_of(float value) {
    const std::uint32_t fraction = (std::bit_cast<std::uint32_t>(value) & 0x7fffffu) | 0x800000u;
    return value == 0 ? 0 : 24 - std::countr_zero(fraction);
}

int bits_of(core::Float16 value) {
    return bits_of(static_cast<float>(value));
}

template <class T>
constexpr bool can_be_told = std::is_same_v<T, float> || std::is_same_v<T, core::Float16>;

/// The standard deviation of actual - exact for a computation in FP32: its own error, and the rounding of `exact`.
/// Empty if the element is not usable.
template <class T>
std::optional<double> deviation(T exact, T actual, const core::ElementSlack& slack, std::uint64_t index) {
    const double sigma = slack.sigma[index];
    if (!(sigma >= least_sigma) || !std::isfinite(sigma) || index >= slack.meaningful) {
        return std::nullopt;
    }
    const auto value = static_cast<double>(exact);
    if (!std::isfinite(value) || !std::isfinite(static_cast<double>(actual))) {
        return std::nullopt;
    }
    if (std::is_same_v<T, core::Float16> && std::fabs(value) < least_float16 && sigma < least_float16) {
        return std::nullopt;
    }
    if (!slack.alternatives.empty() && is_alternative(actual, slack, index)) {
        return std::nullopt;
    }
    const double rounding = half_unit(exact);
    return std::sqrt(sigma * sigma + rounding * rounding / 3);
}

/// Calls visit(exact, actual, deviation, index) for the usable elements. No elements are usable if the type is not.
template <class Visit>
void for_each_telling(const core::Tensor& exact, const core::Tensor& actual, const core::ElementSlack& slack,
                      const Visit& visit) {
    for_each_pair(exact, actual, [&]<class T>(const T& wanted, const T& found, std::uint64_t index) {
        if constexpr (can_be_told<T>) {
            if (const auto sigma = deviation(wanted, found, slack, index)) {
                visit(wanted, found, *sigma, index);
            }
        }
    });
}

}  // namespace

void PrecisionStatistic::add(const PrecisionStatistic& other) {
    elements += other.elements;
    squares += other.squares;
    towards_zero += other.towards_zero;
    different = std::min(different + other.different, least_elements);
    bits = std::max(bits, other.bits);
    expected_bits = std::max(expected_bits, other.expected_bits);
}

bool PrecisionStatistic::can_tell() const {
    return elements >= least_elements && different >= least_elements;
}

double PrecisionStatistic::q() const {
    return elements == 0 ? 0 : std::sqrt(squares / static_cast<double>(elements));
}

double PrecisionStatistic::bias() const {
    return elements == 0 ? 0 : towards_zero / static_cast<double>(elements);
}

bool PrecisionStatistic::truncates() const {
    const double mean = bias();
    return can_tell() && q() >= 1 && mean >= q() / 2 &&
           mean * std::sqrt(static_cast<double>(elements)) > highest_honest_bias;
}

double highest_truncating_q(std::span<const core::RoundedSum> sums) {
    double limit = highest_honest_q;
    for (const core::RoundedSum& sum : sums) {
        limit += std::sqrt(3 * sum.roundings) + std::sqrt(6.0) * sum.of_each_term;
    }
    return limit;
}

double effective_bits(double q, core::DataType type) {
    return (type == core::DataType::float16 ? 11 : 24) - std::log2(std::max(q, 1.0));
}

std::optional<PrecisionStatistic> precision_of(const core::Tensor& exact, const core::Tensor& actual,
                                               const core::ElementSlack& slack) {
    const core::DataType type = exact.desc.data_type;
    if (slack.sigma.empty() || (type != core::DataType::float32 && type != core::DataType::float16)) {
        return std::nullopt;
    }
    PrecisionStatistic statistic;
    std::unordered_set<double> different;
    for_each_telling(exact, actual, slack, [&](auto wanted, auto found, double sigma, std::uint64_t /*index*/) {
        const auto value = static_cast<double>(wanted);
        const double error = (static_cast<double>(found) - value) / sigma;
        ++statistic.elements;
        statistic.squares += error * error;
        statistic.towards_zero += value > 0 ? -error : value < 0 ? error : 0;
        statistic.bits = std::max(statistic.bits, bits_of(found));
        statistic.expected_bits = std::max(statistic.expected_bits, bits_of(wanted));
        if (different.size() < least_elements) {
            different.insert(value);
        }
    });
    statistic.different = different.size();
    return statistic;
}

Explanation explanation_by(const core::Tensor& other, const core::Tensor& exact, const core::Tensor& actual,
                           const core::ElementSlack& slack) {
    // Indexed in row-major order, because the strides of the three tensors may differ.
    std::vector<double> errors(slack.sigma.size());
    double all = 0;
    for_each_telling(exact, actual, slack, [&](auto wanted, auto found, double sigma, std::uint64_t index) {
        errors[index] = (static_cast<double>(found) - static_cast<double>(wanted)) / sigma;
        all += errors[index] * errors[index];
    });
    Explanation explanation;
    double left = all;
    double squares = 0;
    std::uint64_t elements = 0;
    for_each_telling(exact, other, slack, [&](auto wanted, auto found, double sigma, std::uint64_t index) {
        const double error = (static_cast<double>(found) - static_cast<double>(wanted)) / sigma;
        left += error * error - 2 * error * errors[index];
        squares += error * error;
        ++elements;
    });
    explanation.q = elements == 0 ? 0 : std::sqrt(squares / static_cast<double>(elements));
    explanation.share = all == 0 ? 0 : 1 - left / all;
    return explanation;
}

Proportion proportion_of(const core::Tensor& exact, const core::Tensor& actual, const core::ElementSlack& slack) {
    double values = 0;
    double products = 0;
    double errors = 0;
    for_each_telling(exact, actual, slack, [&](auto wanted, auto found, double sigma, std::uint64_t /*index*/) {
        const double value = static_cast<double>(wanted) / sigma;
        const double error = static_cast<double>(found) / sigma - value;
        values += value * value;
        products += value * error;
        errors += error * error;
    });
    const bool is_known = values > 0 && errors > 0;
    return is_known ? Proportion{products / values, products * products / (values * errors)} : Proportion{};
}

}  // namespace dmlconform::compare
