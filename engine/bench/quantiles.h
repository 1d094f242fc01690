// Medians and quartiles of samples.
#pragma once

#include <vector>

namespace dmlconform::bench {

/// The value below which `share` of the sample lies, between its neighbours where it falls between them. The sample is
/// sorted and not empty.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double share);

/// Of a sample that is not empty.
[[nodiscard]] double median(std::vector<double> sample);

/// Half of what the middle half of a sample spans, as a share of the median.
[[nodiscard]] double spread(std::vector<double> sample);

}  // namespace dmlconform::bench
