// Medians and quartiles of samples.
#pragma once

#include <vector>

namespace dmlconform::bench {

/// The quantile at `share`, with linear interpolation between neighbours. The sample must be sorted and not empty.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double share);

/// The median of a sample, which must not be empty.
[[nodiscard]] double median(std::vector<double> sample);

/// Half of the interquartile range, as a share of the median.
[[nodiscard]] double spread(std::vector<double> sample);

}  // namespace dmlconform::bench
