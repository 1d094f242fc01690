// Quantiles by linear interpolation.
#include "engine/bench/quantiles.h"

#include <algorithm>
#include <cstddef>

namespace dmlconform::bench {

double quantile(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> sample) {
    std::sort(sample.begin(), sample.end());
    return quantile(sample, 0.5);
}

double spread(std::vector<double> sample) {
    std::sort(sample.begin(), sample.end());
    return (quantile(sample, 0.75) - quantile(sample, 0.25)) / 2 / quantile(sample, 0.5);
}

}  // namespace dmlconform::bench
