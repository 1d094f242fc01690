// Interpolation in a plane.
#include "engine/cpu/regions/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dmlconform::cpu::window {

double Plane::in_row(std::int64_t row, const Between& x) const {
    const double first = at(row, x.first);
    return x.from == 0 ? first : first * (1 - x.from) + at(row, x.second) * x.from;
}

double Plane::value(const Sample& y, const Sample& x) const {
    if (!y.is_inside || !x.is_inside) {
        return outside_;
    }
    if (linear_ && (std::isnan(y.position) || std::isnan(x.position))) {
        return std::nan("");
    }
    const double first = in_row(y.at.first, x.at);
    return y.at.from == 0 ? first : first * (1 - y.at.from) + in_row(y.at.second, x.at) * y.at.from;
}

Interval Plane::interpolated(const Sample& y, const Sample& x, double value) const {
    Around around;
    around.keeps_equal = y.is_at_element() && x.is_at_element();
    Interval means(std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), false);
    const auto include = [&](double mean) {
        means.low = std::min(means.low, mean);
        means.high = std::max(means.high, mean);
    };
    for (const Between& row : y.around) {
        for (const Between& column : x.around) {
            const double corners[] = {at(row.first, column.first), at(row.first, column.second),
                                      at(row.second, column.first), at(row.second, column.second)};
            std::ranges::for_each(corners, [&](double corner) { around.add(corner); });
            // Between four elements, extremes are at the ends of the intervals.
            for (const double down : {row.from, row.to}) {
                for (const double right : {column.from, column.to}) {
                    const double upper = corners[0] * (1 - right) + corners[1] * right;
                    const double lower = corners[2] * (1 - right) + corners[3] * right;
                    include(upper * (1 - down) + lower * down);
                }
            }
        }
    }
    if (!linear_) {
        return around.finite
                   ? means
                   : Interval(-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), true);
    }
    return interpolated_range(means, around, value, 2);
}

Interval Plane::range(const Sample& y, const Sample& x, double value) const {
    const Choice inside = y.inside && x.inside;
    const bool may_be_nan = y.range.nan || x.range.nan;
    if (!inside.may_hold) {
        return in_fp32(outside_);
    }
    if (may_be_nan) {
        return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), true};
    }
    const bool here = y.is_inside && x.is_inside;
    const Interval result = interpolated(y, x, here ? value : std::nan(""));
    return select(inside, result, in_fp32(outside_));
}

bool is_greater(double candidate, double greatest) {
    return candidate > greatest || (std::isnan(greatest) && !std::isnan(candidate));
}

}  // namespace dmlconform::cpu::window
