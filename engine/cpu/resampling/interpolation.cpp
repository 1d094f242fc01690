// Finds the elements around a position between elements, and their weights.
#include "engine/cpu/resampling/interpolation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"

namespace dmlconform::cpu::window {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// NaN counts as the first element.
std::int64_t within(double element, std::int64_t size) {
    const double last = static_cast<double>(size - 1);
    return std::isnan(element) ? 0 : static_cast<std::int64_t>(std::clamp(element, 0.0, last));
}

double element_at(double position, Reading reading) {
    return reading == Reading::below   ? std::floor(position)
           : reading == Reading::above ? std::ceil(position)
                                       : std::floor(position + 0.5);
}

/// The first and the last element that FP32 may choose. Nearest-neighbour modes add or subtract half an element first.
Interval elements_at(const Interval& range, Reading reading) {
    if (reading == Reading::nearest) {
        return {std::ceil((range - Interval(0.5)).low), std::floor((range + Interval(0.5)).high), false};
    }
    return {element_at(range.low, reading), element_at(range.high, reading), false};
}

/// The elements themselves, from the first to the last.
std::vector<Between> each(std::int64_t first, std::int64_t last) {
    std::vector<Between> result;
    for (std::int64_t element = first; element <= last; ++element) {
        result.push_back({element, element, 0, 0});
    }
    return result;
}

}  // namespace

std::vector<Between> between(double low, double high, std::int64_t size) {
    const double last = static_cast<double>(size - 1);
    const auto inside = [last](double position, double otherwise) {
        return std::isnan(position) ? otherwise : std::clamp(position, 0.0, last);
    };
    return steps_between(inside(low, 0), inside(high, last), size);
}

std::vector<Between> steps_between(double low, double high, std::int64_t size) {
    // Positions further out change nothing. NaN leaves that end open.
    const auto end = static_cast<double>(size);
    const double from = std::isnan(low) ? -1.0 : std::clamp(low, -1.0, end);
    const double to = std::isnan(high) ? end : std::clamp(high, from, end);
    std::vector<Between> result;
    for (double first = std::floor(from); first <= to; ++first) {
        result.push_back(
            {within(first, size), within(first + 1, size), std::max(0.0, from - first), std::min(1.0, to - first)});
    }
    return result;
}

void find_neighbours(Sample& sample, std::int64_t size, Reading reading, bool bounded) {
    const double position = std::isnan(sample.position) ? 0 : sample.position;
    sample.anywhere = sample.range.nan || !sample.range.has_numbers();
    const Interval range =
        sample.anywhere ? Interval(0, static_cast<double>(size - 1), false) : hull(position, sample.range);
    if (reading == Reading::linear) {
        sample.may_be_beyond = range.low < 0 || range.high > static_cast<double>(size - 1);
        sample.at = between(position, position, size).front();
        sample.around = bounded ? between(range.low, range.high, size) : std::vector<Between>();
        return;
    }
    const std::int64_t element = within(element_at(position, reading), size);
    sample.at = {element, element, 0, 0};
    if (bounded) {
        const Interval elements = elements_at(range, reading);
        sample.around =
            each(std::min(within(elements.low, size), element), std::max(within(elements.high, size), element));
    }
}

namespace {

Weight& weight_of(std::vector<Weight>& weights, std::int64_t element) {
    const auto found = std::ranges::find(weights, element, &Weight::element);
    return found == weights.end() ? weights.emplace_back(Weight{element}) : *found;
}

/// The weight of an element within one interval of positions.
Interval share(const Between& part, std::int64_t element) {
    const Interval way(part.from, part.to, false);
    const Interval first = part.first == element ? Interval(1) - way : Interval(0);
    const Interval second = part.second == element ? way + Interval(0) : Interval(0);
    return part.first == part.second && part.first == element ? Interval(1) : first + second;
}

/// Whether FP32 may take one of several elements, each as a whole.
bool takes_one_of_several(const Sample& sample) {
    return sample.around.size() > 1 && std::ranges::all_of(sample.around, [](const Between& part) {
               return part.first == part.second && part.from == part.to;
           });
}

}  // namespace

std::vector<Weight> weights_of(const Sample& sample) {
    std::vector<Weight> weights;
    if (sample.is_inside) {
        weight_of(weights, sample.at.first).value += 1 - sample.at.from;
        weight_of(weights, sample.at.second).value += sample.at.from;
    }
    for (const Between& part : sample.around) {
        (void)weight_of(weights, part.first);
        (void)weight_of(weights, part.second);
    }
    for (Weight& weight : weights) {
        if (sample.anywhere) {
            weight.range = {-infinity, infinity, true};
            continue;
        }
        Interval range(infinity, -infinity, false);
        for (const Between& part : sample.around) {
            range = hull(range, share(part, weight.element));
        }
        if (takes_one_of_several(sample)) {
            const double difference = range.high - range.low;
            range = range.with_expected(weight.value, range.variance + difference * difference);
        }
        if (sample.may_be_beyond && range.high == 1) {
            // Two weights, each a difference or its complement, and their product: three roundings, apart from the sum.
            range = {range.low - 0x1p-22, 1 + 0x1p-22, false};
        }
        weight.range = sample.inside.may_hold ? select(sample.inside, range, Interval(0)) : hull(range, Interval(0));
    }
    for (std::size_t i = 0, count = weights.size(); sample.may_be_beyond && i < count; ++i) {
        weights.push_back({weights[i].element, 0, 0});
    }
    return weights;
}

Interval weighted(double element, const Interval& weight) {
    const Interval product = Interval(element) * weight;
    return weight.low <= 0 ? hull(product, 0) : product;
}

void Around::add(double element) {
    largest = std::max(largest, std::fabs(element));
    finite = finite && std::isfinite(element);
}

Interval mean_at(double way, const Interval& first, const Interval& second) {
    const double of_first = 1 - way;
    return {(of_first >= 0 ? first.low : first.high) * of_first + (way >= 0 ? second.low : second.high) * way,
            (of_first >= 0 ? first.high : first.low) * of_first + (way >= 0 ? second.high : second.low) * way, false};
}

Interval interpolated_range(const Interval& means, const Around& around, double value, std::size_t dimensions) {
    if (!around.finite) {
        // An infinity with a weight of 0 gives NaN, and a position beyond an element includes others.
        const bool may_be_finite = std::isfinite(value) || std::isfinite(means.low) || std::isfinite(means.high);
        return may_be_finite ? Interval(-infinity, infinity, true) : Interval(value, value, true);
    }
    const double largest = around.gain * around.largest;
    // Weights of FP32 that are so large leave nothing of what they should add up to.
    if (2 * largest > core::float32.largest || around.gain * core::float32.half_rounding >= 1) {
        return {-infinity, infinity, true};
    }
    const bool alike =
        around.keeps_equal && means.low == means.high && means.low == value && around.largest == std::fabs(value);
    const double error = alike ? 0 : 6 * core::float32.one_rounding * static_cast<double>(dimensions) * largest;
    // One subtraction, multiplication and addition for each dimension, and a position anywhere in its range.
    const double variance = alike ? 0
                                  : 3 * static_cast<double>(dimensions) * rounding_variance(largest) +
                                        uniform_variance((means.high - means.low) / 2);
    return Interval(means.low - error, means.high + error, false, std::isnan(value) ? means.low : value, variance) +
           Interval(0);
}

}  // namespace dmlconform::cpu::window
