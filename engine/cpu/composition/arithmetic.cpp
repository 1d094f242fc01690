// Roundings of sums.
#include "engine/cpu/composition/arithmetic.h"

#include <cmath>
#include <limits>

namespace dmlconform::cpu::composition {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// FLOAT16, to nearest or towards zero.
constexpr double half_rounding = 0x1p-10;
constexpr double smallest_half = 0x1p-24;
constexpr double largest_half = 65504;

constexpr double largest_single = std::numeric_limits<float>::max();

}  // namespace

Interval Bounded::stored(const Interval& x) const {
    if (half) {
        return normalisation::maybe_stored(core::DataType::float16, x);
    }
    // Finite ends that are too large for FP32 become infinite, or, rounded towards zero, its largest number.
    Interval fitting = x;
    if (x.low > largest_single && x.low < infinity) {
        fitting.low = largest_single;
        fitting.high = infinity;
    }
    if (x.high < -largest_single && x.high > -infinity) {
        fitting.low = -infinity;
        fitting.high = -largest_single;
    }
    return fitting;
}

void SumBounds::begin_part() {
    if (half_ && !part_is_empty_) {
        end_part(part_.result(), positive_, negative_, count_);
        part_ = {};
        part_is_empty_ = true;
    }
}

void SumBounds::add(const Interval& term) {
    all_.add(term);
    if (half_) {
        part_.add(term);
        part_is_empty_ = false;
    }
}

void SumBounds::end_part(Interval part, double& positive, double& negative, double& count) const {
    positive += part.has_numbers() ? std::max(part.high, 0.0) : 0;
    negative += part.has_numbers() ? std::max(-part.low, 0.0) : 0;
    count += 1;
}

/// In FLOAT16 each part is stored, and each sum of a part with those before it, which is no larger than all positive
/// parts together, or all negative ones. What is too large for FLOAT16 becomes infinite, or its largest number, so that
/// of the positive parts together no more than that may be left, and of the negative ones as well.
Interval SumBounds::result() const {
    Interval range = all_.result();
    if (!half_ || !range.has_numbers()) {
        return range;
    }
    double positive = positive_;
    double negative = negative_;
    double count = count_;
    if (!part_is_empty_) {
        end_part(part_.result(), positive, negative, count);
    }
    const double magnitude = std::max(positive, negative);
    if (magnitude < infinity) {
        const double roundings = count + 1;
        const double error = std::expm1(roundings * half_rounding) * magnitude + 2 * count * smallest_half;
        range.low -= error;
        range.high += error;
    }
    const Interval left{largest_half - negative, positive - largest_half, false};
    range.low = positive > largest_half ? std::min(range.low, left.low) : range.low;
    range.high = negative > largest_half ? std::max(range.high, left.high) : range.high;
    range.high = positive > largest_half ? infinity : range.high;
    range.low = negative > largest_half ? -infinity : range.low;
    range.nan = range.nan || (std::isinf(range.high) && std::isinf(range.low));
    return range;
}

}  // namespace dmlconform::cpu::composition
