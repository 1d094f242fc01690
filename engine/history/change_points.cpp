// Compares values with the median and the median absolute deviation of a moving window.
#include "engine/history/change_points.h"

#include <algorithm>
#include <cmath>

#include "engine/bench/quantiles.h"

namespace dmlconform::history {
namespace {

/// The ratio of standard deviation to median absolute deviation of a normal distribution.
constexpr double deviation_by_mad = 1.4826;

struct Level {
    double median = 0;
    /// Values within this distance do not stand out.
    double margin = 0;

    /// 1 for values above, -1 below, 0 within the margin.
    [[nodiscard]] int side_of(double value) const {
        return value > median + margin ? 1 : value < median - margin ? -1 : 0;
    }
};

Level level_of(std::span<const double> window, const ChangePointSettings& settings) {
    Level level;
    level.median = bench::median({window.begin(), window.end()});
    std::vector<double> distances;
    for (const double value : window) {
        distances.push_back(std::fabs(value - level.median));
    }
    level.margin = std::max(settings.threshold * std::fabs(level.median),
                            settings.deviations * deviation_by_mad * bench::median(std::move(distances)));
    return level;
}

}  // namespace

std::vector<ChangePoint> find_change_points(std::span<const double> values, const ChangePointSettings& settings) {
    std::vector<ChangePoint> points;
    std::size_t start = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t count = std::min(i - start, settings.window);
        if (count < std::max<std::size_t>(settings.least, 1)) {
            continue;
        }
        const Level level = level_of(values.subspan(i - count, count), settings);
        const int side = level.side_of(values[i]);
        const bool last = i + 1 == values.size();
        if (side == 0 || (!last && level.side_of(values[i + 1]) != side)) {
            continue;
        }
        const auto after = values.subspan(i, std::min(settings.window, values.size() - i));
        points.push_back({i, level.median, bench::median({after.begin(), after.end()}), !last});
        start = i;
    }
    return points;
}

}  // namespace dmlconform::history
