// The newest change point decides, among those that are confirmed.
#include "engine/history/verdict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace dmlconform::history {
namespace {

bool is_slowdown(const ChangePoint& change) {
    return change.after > change.before;
}

std::pair<std::int64_t, std::int64_t> moment_of(const Point& point) {
    return {point.measured, point.entry};
}

}  // namespace

const char* to_string(Verdict verdict) {
    constexpr std::array names{"as before", "slower", "maybe slower", "faster", "too few", "gone"};
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

NewestResults::NewestResults(std::span<const Series> all, std::size_t window)
    : first_(std::numeric_limits<std::int64_t>::min(), 0) {
    for (const Series& series : all) {
        if (series.points.size() >= window) {
            first_ = std::max(first_, moment_of(series.points[series.points.size() - window]));
        }
    }
}

bool NewestResults::have(const Series& series) const {
    return !series.replaced && !series.points.empty() && moment_of(series.points.back()) >= first_;
}

std::size_t fewest_results(const ChangePointSettings& settings) {
    return std::max<std::size_t>(settings.least, 2) + 1;
}

Judgement judge(std::span<const double> medians, const ChangePointSettings& settings) {
    return judge(find_change_points(medians, settings), medians.size(), settings);
}

Judgement judge(std::span<const ChangePoint> changes, std::size_t results, const ChangePointSettings& settings) {
    if (results < fewest_results(settings)) {
        return {Verdict::too_few, std::nullopt};
    }
    std::span<const ChangePoint> confirmed = changes;
    std::optional<ChangePoint> newest;
    if (!changes.empty() && !changes.back().confirmed) {
        newest = changes.back();
        confirmed = changes.first(changes.size() - 1);
    }
    Judgement judged;
    if (!confirmed.empty() && results - confirmed.back().index <= settings.window) {
        judged = {is_slowdown(confirmed.back()) ? Verdict::slower : Verdict::faster, confirmed.back()};
    }
    if (judged.verdict != Verdict::slower && newest && is_slowdown(*newest)) {
        judged = {Verdict::maybe_slower, newest};
    }
    return judged;
}

Judgement judge(const Series& series, std::span<const ChangePoint> changes, const NewestResults& newest,
                const ChangePointSettings& settings) {
    return newest.have(series) ? judge(changes, series.points.size(), settings)
                               : Judgement{Verdict::gone, std::nullopt};
}

}  // namespace dmlconform::history
