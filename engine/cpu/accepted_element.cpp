// Converts intervals of accepted numbers to slack.
#include "engine/cpu/accepted_element.h"
#include "engine/core/floating_format.h"

#include <algorithm>
#include <cmath>

namespace dmlconform::cpu {
namespace {}  // namespace

void note_accepted(core::ElementSlack& slack, std::size_t element, core::DataType type, double stored,
                   const Interval& range) {
    if (slack.below.empty()) {
        return;
    }
    if (std::isnan(stored) && range.has_numbers()) {
        slack.below[element] = std::max(0.0, -range.low);
        slack.above[element] = std::max(0.0, range.high);
        slack.nan[element] = 2;
        slack.finite[element] = 0;
        return;
    }
    const double largest = core::format_of(type).largest;
    // If the value is infinite, slack is relative to the largest finite number.
    const double value = std::clamp(stored, -largest, largest);
    const bool numbers = range.has_numbers() && !std::isnan(stored);
    const bool ends_here = std::isinf(stored);
    slack.below[element] = numbers && !(ends_here && value < 0) ? std::max(0.0, value - range.low) : 0;
    slack.above[element] = numbers && !(ends_here && value > 0) ? std::max(0.0, range.high - value) : 0;
    // If only NaN is accepted, NaN is expected. The computed value may nevertheless be a number, such as the library's
    // pow(1, NaN).
    slack.nan[element] = range.nan && !std::isnan(stored) ? 1 : 0;
    const bool is_known = numbers && !ends_here && !slack.sigma.empty() && core::is_floating_point(type);
    if (is_known) {
        slack.sigma[element] = expected_error(range);
    }
    slack.finite[element] = numbers && ends_here && (value > 0 ? range.low <= largest : range.high >= -largest) ? 1 : 0;
}

}  // namespace dmlconform::cpu
