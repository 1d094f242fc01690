// Where a series of medians goes to another level and stays there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dmlconform::history {

struct ChangePointSettings {
    /// Changes up to this share are none.
    double threshold = 0.05;
    /// So many values before one, at most, are what it is held against, ...
    std::size_t window = 8;
    /// ... and fewer than this are not enough.
    std::size_t least = 3;
    /// A value stands out if it is further from the window's median than so many of its standard deviations, estimated
    /// by 1.4826 times the median absolute deviation.
    double deviations = 3;
};

struct ChangePoint {
    /// The first value at the new level.
    std::size_t index = 0;
    /// The window's median.
    double before = 0;
    /// The median of what is there of the new level, up to a window's length.
    double after = 0;
    /// False for the last value of a series: whether it stays there, the next one will tell.
    bool confirmed = true;
};

/// A value that stands out from the window before it is a change point if the next one stands out in the same
/// direction; otherwise it is an outlier. Windows do not reach back beyond the change point before.
[[nodiscard]] std::vector<ChangePoint> find_change_points(std::span<const double> values,
                                                          const ChangePointSettings& settings = {});

}  // namespace dmlconform::history
