// Error bounds of sums.
#include "engine/cpu/composition/arithmetic.h"

#include <cmath>
#include <limits>

#include "engine/cpu/expected_error.h"

namespace dmlconform::cpu::composition {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Relative error of FLOAT16, rounded to nearest or towards zero.
constexpr double half_rounding = 0x1p-10;
constexpr double smallest_half = 0x1p-24;
constexpr double largest_half = 65504;

constexpr double largest_single = std::numeric_limits<float>::max();

}  // namespace

Interval Bounded::stored(const Interval& x) const {
    if (half) {
        return normalisation::maybe_stored(core::DataType::float16, x);
    }
    // Finite ends beyond the range of FP32 become infinite, or its largest number if rounding is towards zero.
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
        parts_.add(part_.result());
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

void SumBounds::Parts::add(const Interval& part) {
    positive += part.has_numbers() ? std::max(part.high, 0.0) : 0;
    negative += part.has_numbers() ? std::max(-part.low, 0.0) : 0;
    count += 1;
    value += part.value;
    variance += float16_rounding_variance(part.value);
    // The first part is stored once.
    variance += count > 1 ? float16_rounding_variance(value) : 0;
}

/// In FLOAT16 each part may be stored, and so may each partial sum of parts, which is at most the sum of all positive
/// or of all negative parts. A partial sum beyond FLOAT16's range becomes infinite or FLOAT16's largest number, so that
/// this may be all that is left of the positive parts, and likewise of the negative ones.
Interval SumBounds::result() const {
    Interval range = all_.result();
    if (!half_ || !range.has_numbers()) {
        return range;
    }
    Parts parts = parts_;
    if (!part_is_empty_) {
        parts.add(part_.result());
    }
    const double magnitude = std::max(parts.positive, parts.negative);
    if (magnitude < infinity) {
        const double roundings = parts.count + 1;
        const double error = std::expm1(roundings * half_rounding) * magnitude + 2 * parts.count * smallest_half;
        range.low -= error;
        range.high += error;
        range.variance += parts.variance;
    }
    const Interval left{largest_half - parts.negative, parts.positive - largest_half, false};
    range.low = parts.positive > largest_half ? std::min(range.low, left.low) : range.low;
    range.high = parts.negative > largest_half ? std::max(range.high, left.high) : range.high;
    range.high = parts.positive > largest_half ? infinity : range.high;
    range.low = parts.negative > largest_half ? -infinity : range.low;
    range.nan = range.nan || (std::isinf(range.high) && std::isinf(range.low));
    return range;
}

}  // namespace dmlconform::cpu::composition
