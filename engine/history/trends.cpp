// Converts series of points to JSON.
#include "engine/history/trends.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/history/moment.h"
#include "engine/history/verdict.h"

namespace dmlconform::history {
namespace {

using Json = nlohmann::ordered_json;

template <class Points>
void keep_newest(Points& points) {
    if (points.size() > most_points) {
        points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(most_points));
    }
}

template <class Point>
Json point_json(const Point& point) {
    return {{"measured", format_moment(point.measured)}, {"commit", point.commit}, {"driver", point.driver}};
}

Json times_json(Series series, const NewestResults& newest, const ChangePointSettings& settings) {
    // What is not drawn decides, too.
    const std::vector<ChangePoint> found = changes_of(series, settings);
    const std::size_t all = series.points.size();
    const Verdict verdict = judge(series, found, newest, settings).verdict;
    keep_newest(series.points);
    const std::size_t left_out = all - series.points.size();
    Json points = Json::array();
    const bool by_fastest = !series.points.empty() && series.points.front().fastest;
    for (const Point& point : series.points) {
        Json entry = point_json(point);
        entry["level"] = point.level();
        entry["low"] = std::min(point.low, point.level());
        entry["high"] = point.high;
        points.push_back(std::move(entry));
    }
    Json changes = Json::array();
    for (const ChangePoint& change : found) {
        if (change.index < left_out) {
            continue;
        }
        changes.push_back({{"index", change.index - left_out},
                           {"before", change.before},
                           {"after", change.after},
                           {"confirmed", change.confirmed}});
    }
    return {{"name", series.benchmark},      {"title", series.title()},
            {"machine", series.machine},     {"adapter", series.adapter},
            {"points", std::move(points)},   {"level", by_fastest ? "fastest process" : "median"},
            {"changes", std::move(changes)}, {"verdict", to_string(verdict)}};
}

Json outcomes_json(OutcomeSeries series) {
    keep_newest(series.points);
    Json points = Json::array();
    Json failures = Json::array();
    Json passes = Json::array();
    for (const OutcomePoint& point : series.points) {
        points.push_back(point_json(point));
        std::uint64_t failed = 0;
        for (std::size_t status = 0; status < point.outcome.counts.size(); ++status) {
            failed += run::is_failure(static_cast<run::Status>(status)) ? point.outcome.counts[status] : 0;
        }
        failures.push_back(failed);
        passes.push_back(point.outcome.counts[static_cast<std::size_t>(run::Status::pass)]);
    }
    const std::string name = fmt::format("{}/{}", series.engine, series.operator_name);
    return {{"name", name},
            {"title", name},
            {"machine", series.machine},
            {"adapter", series.adapter},
            {"points", std::move(points)},
            {"changes", Json::array()},
            {"failures", std::move(failures)},
            {"passes", std::move(passes)}};
}

}  // namespace

core::Result<Json> trends(Store& store, const ChangePointSettings& settings) {
    const auto series = store.series();
    const auto outcomes = store.outcomes();
    if (!series || !outcomes) {
        return tl::unexpected(!series ? series.error() : outcomes.error());
    }
    std::vector<Json> all;
    const ChangePointSettings each = for_each_of(series->size(), settings);
    const NewestResults newest(*series, settings.window);
    for (const Series& one : *series) {
        all.push_back(times_json(one, newest, each));
    }
    for (const OutcomeSeries& one : *outcomes) {
        all.push_back(outcomes_json(one));
    }
    std::stable_partition(all.begin(), all.end(), [](const Json& one) { return !one["changes"].empty(); });
    return Json(std::move(all));
}

}  // namespace dmlconform::history
