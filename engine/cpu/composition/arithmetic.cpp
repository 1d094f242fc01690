// Error bounds of sums.
#include "engine/cpu/composition/arithmetic.h"

#include <cmath>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/expected_error.h"

namespace dmlconform::cpu::composition {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Interval Bounded::stored(const Interval& x) const {
    if (half) {
        return normalisation::maybe_stored(core::DataType::float16, x);
    }
    // Finite ends beyond the range of FP32 become infinite, or its largest number if rounding is towards zero.
    Interval fitting = x;
    if (x.low > core::float32.largest && x.low < infinity) {
        fitting.low = core::float32.largest;
        fitting.high = infinity;
    }
    if (x.high < -core::float32.largest && x.high > -infinity) {
        fitting.low = -infinity;
        fitting.high = -core::float32.largest;
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
        const double error =
            std::expm1(roundings * core::float16.one_rounding) * magnitude + 2 * parts.count * core::float16.smallest;
        range.low -= error;
        range.high += error;
        range.variance += parts.variance;
    }
    const Interval left{core::float16.largest - parts.negative, parts.positive - core::float16.largest, false};
    range.low = parts.positive > core::float16.largest ? std::min(range.low, left.low) : range.low;
    range.high = parts.negative > core::float16.largest ? std::max(range.high, left.high) : range.high;
    range.high = parts.positive > core::float16.largest ? infinity : range.high;
    range.low = parts.negative > core::float16.largest ? -infinity : range.low;
    range.nan = range.nan || (std::isinf(range.high) && std::isinf(range.low));
    return range;
}

}  // namespace dmlconform::cpu::composition
