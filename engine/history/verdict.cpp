// The newest change point decides.
#include "engine/history/verdict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace dmlconform::history {

const char* to_string(Verdict verdict) {
    constexpr std::array names{"as before", "slower", "maybe slower", "faster"};
    return names[static_cast<std::size_t>(verdict)];
}

ChangePointSettings for_each_of(std::size_t count, ChangePointSettings settings) {
    settings.significance /= static_cast<double>(std::max<std::size_t>(count, 1));
    return settings;
}

std::vector<ChangePoint> changes_of(const Series& series, const ChangePointSettings& settings) {
    std::vector<double> levels;
    std::vector<double> errors;
    for (const Point& point : series.points) {
        levels.push_back(point.level());
        errors.push_back(point.error());
    }
    return find_change_points(levels, settings, errors);
}

Judgement judge(std::span<const double> medians, const ChangePointSettings& settings) {
    return judge(find_change_points(medians, settings), medians.size(), settings);
}

Judgement judge(std::span<const ChangePoint> changes, std::size_t results, const ChangePointSettings& settings) {
    if (changes.empty() || results - changes.back().index > settings.window) {
        return {};
    }
    const ChangePoint& change = changes.back();
    if (change.after <= change.before) {
        return {change.confirmed ? Verdict::faster : Verdict::as_before, change};
    }
    return {change.confirmed ? Verdict::slower : Verdict::maybe_slower, change};
}

}  // namespace dmlconform::history
