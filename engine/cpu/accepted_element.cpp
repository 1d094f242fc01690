// From ends to distances.
#include "engine/cpu/accepted_element.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dmlconform::cpu {
namespace {

double largest_of(core::DataType type) {
    switch (type) {
        case core::DataType::float16:
            return 65504;
        case core::DataType::float64:
            return std::numeric_limits<double>::max();
        default:
            return static_cast<double>(std::numeric_limits<float>::max());
    }
}

}  // namespace

void note_accepted(core::ElementSlack& slack, std::size_t element, core::DataType type, double stored,
                   const Interval& range) {
    if (slack.below.empty()) {
        return;
    }
    const double largest = largest_of(type);
    // From an infinity, slack counts from the largest finite number.
    const double value = std::clamp(stored, -largest, largest);
    const bool numbers = range.has_numbers() && !std::isnan(stored);
    const bool ends_here = std::isinf(stored);
    slack.below[element] = numbers && !(ends_here && value < 0) ? std::max(0.0, value - range.low) : 0;
    slack.above[element] = numbers && !(ends_here && value > 0) ? std::max(0.0, range.high - value) : 0;
    // Where nothing but NaN is right, NaN is expected.
    slack.nan[element] = range.nan && numbers ? 1 : 0;
    slack.finite[element] = numbers && ends_here && (value > 0 ? range.low <= largest : range.high >= -largest) ? 1 : 0;
}

}  // namespace dmlconform::cpu
