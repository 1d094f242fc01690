// Detects persistent changes in a series of medians.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dmlconform::history {

struct ChangePointSettings {
    /// Changes up to this share are ignored.
    double threshold = 0.05;
    /// Levels are compared over at most this many values on each side.
    std::size_t window = 8;
    /// The minimum number of preceding values.
    std::size_t least = 3;
    /// The probability that a series without changes has a confirmed one.
    double significance = 0.01;
};

struct ChangePoint {
    /// Index of the first value at the new level.
    std::size_t index = 0;
    /// The median of the values before, up to a window's length.
    double before = 0;
    /// The median of the values at the new level, up to a window's length.
    double after = 0;
    /// False for the last value of a series: the next one will show whether the change persists.
    bool confirmed = true;
};

/// Finds change points: the value that divides the series best into two levels is one if Student's t-test, corrected
/// for the number of values that were tried, says that the levels differ. Then both parts are searched in turn. The
/// values must be positive, and levels are compared by ratios. `errors`: standard errors of the values' logarithms, as
/// far as they are known; values are not trusted more than these say. Either one for each value, or empty.
[[nodiscard]] std::vector<ChangePoint> find_change_points(std::span<const double> values,
                                                          const ChangePointSettings& settings = {},
                                                          std::span<const double> errors = {});

}  // namespace dmlconform::history
