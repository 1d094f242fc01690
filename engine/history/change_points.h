// Detects persistent changes in a series of medians.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dmlconform::history {

struct ChangePointSettings {
    /// Changes up to this share are ignored.
    double threshold = 0.05;
    /// A value is compared with at most this many preceding values.
    std::size_t window = 8;
    /// The minimum number of preceding values.
    std::size_t least = 3;
    /// A value stands out if its distance from the window's median exceeds this many standard deviations, which are
    /// estimated by 1.4826 times the median absolute deviation.
    double deviations = 3;
};

struct ChangePoint {
    /// Index of the first value at the new level.
    std::size_t index = 0;
    /// The window's median.
    double before = 0;
    /// The median of the values at the new level, up to a window's length.
    double after = 0;
    /// False for the last value of a series: the next one will show whether the change persists.
    bool confirmed = true;
};

/// Finds change points. A value that stands out from the preceding window is one if the next value stands out in the
/// same direction; otherwise it is an outlier. Windows begin after the preceding change point.
[[nodiscard]] std::vector<ChangePoint> find_change_points(std::span<const double> values,
                                                          const ChangePointSettings& settings = {});

}  // namespace dmlconform::history
