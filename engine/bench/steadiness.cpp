// Tests repetitions for a trend and for outliers.
#include "engine/bench/steadiness.h"

#include <algorithm>
#include <cmath>

#include "engine/bench/quantiles.h"
#include "engine/bench/rank_test.h"

namespace dmlconform::bench {
namespace {

constexpr std::size_t fewest = 4;
/// The default threshold of `compare`.
constexpr double far_off = 0.05;
/// Smaller drifts do not matter compared with that.
constexpr double least_drift = 0.02;
/// One benchmark in a hundred is marked without a reason and measured again.
constexpr double significance = 0.01;

}  // namespace

bool is_unsettled(std::span<const double> seconds, TimedBy timed_by) {
    if (seconds.size() < fewest) {
        return false;
    }
    const double middle = median({seconds.begin(), seconds.end()});
    const bool is_far_off = std::any_of(seconds.begin(), seconds.end(),
                                        [middle](double time) { return std::fabs(time - middle) > far_off * middle; });
    if (timed_by == TimedBy::device && is_far_off) {
        return true;
    }
    const std::size_t half = seconds.size() / 2;
    const double first = median({seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(half)});
    const double last = median({seconds.end() - static_cast<std::ptrdiff_t>(half), seconds.end()});
    return std::fabs(first - last) > least_drift * middle && trend_p(seconds) < significance;
}

}  // namespace dmlconform::bench
