// Formats tables of trends, and lists of changes.
#include "app/history_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "engine/bench/quantiles.h"
#include "engine/core/counted.h"
#include "engine/history/moment.h"
#include "engine/history/verdict.h"
#include "engine/run/selection.h"

namespace dmlconform::app {
namespace {

using history::ChangePoint;

/// The number of most recent levels that are drawn.
constexpr std::size_t trend_length = 24;

std::string commit_text(const std::string& commit) {
    constexpr std::size_t shown = 12;
    const bool dirty = commit.ends_with("-dirty");
    return commit.empty() ? "-" : commit.substr(0, shown) + (dirty && commit.size() > shown ? "-dirty" : "");
}

std::vector<double> levels_of(const history::Series& series) {
    std::vector<double> levels;
    std::ranges::transform(series.points, std::back_inserter(levels), &history::Point::level);
    return levels;
}

/// A line such as "▁▂█", scaled from the minimum to the maximum.
std::string trend_text(std::vector<double> values) {
    constexpr std::array bars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (values.size() > trend_length) {
        values.erase(values.begin(), values.end() - trend_length);
    }
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    std::string text;
    for (const double value : values) {
        // Differences of a few percent are drawn as level.
        const double range = std::max(*most - *least, 0.1 * *most);
        const double height = range > 0 ? (value - *least) / range * (bars.size() - 1) : 0;
        text += bars[static_cast<std::size_t>(std::clamp(height, 0.0, bars.size() - 1.0))];
    }
    return text;
}

/// Other differences at a change, such as the driver.
std::string other_changes(const history::Series& series, std::size_t index) {
    const std::string& before = series.points[index - 1].driver;
    const std::string& after = series.points[index].driver;
    return before == after ? "" : fmt::format("; driver {} before, {} now", before, after);
}

core::ShownText change_line(const history::Series& series, const ChangePoint& change,
                            const report::ConsoleStyle& style) {
    const history::Point& point = series.points[change.index];
    const double percent = 100 * (change.after / change.before - 1);
    const core::ShownText word =
        style.status(percent > 0 ? run::Status::fail : run::Status::pass, core::show("{:+.1f}%", percent));
    return core::show(
        "  {}: {} -> {} ({}) since {}, commit {}{}{}\n", series.title(), report::format_seconds(change.before),
        report::format_seconds(change.after), word, history::format_moment(point.measured), commit_text(point.commit),
        other_changes(series, change.index), change.confirmed ? "" : "; the next result will tell whether it stays");
}

core::ShownText times_table(const std::vector<history::Series>& all, const HistoryView& view,
                            const report::ConsoleStyle& style) {
    std::size_t width = 9;
    for (const history::Series& series : all) {
        width = std::max(width, series.title().size());
    }
    core::ShownText text = style.bold(core::show("{:<{}} {:>7} {:>10} {:>10} {:>7} {:>9}  trend", "benchmark", width,
                                                 "results", "before", "latest", "ratio", "roofline")) +
                           core::show("\n");
    core::ShownText changes;
    std::string machine_above;
    const auto each = history::for_each_of(all.size(), view.settings);
    for (const history::Series& series : all) {
        if (const std::string here = series.adapter.empty() ? series.machine : series.machine + ", " + series.adapter;
            here != machine_above && !here.empty()) {
            machine_above = here;
            text += style.faint(core::show("{}", here)) + core::show("\n");
        }
        const auto levels = levels_of(series);
        const history::Point& latest = series.points.back();
        std::string before = "-";
        std::string ratio = "-";
        if (levels.size() > 1) {
            const std::size_t count = std::min(view.settings.window, levels.size() - 1);
            const double median =
                bench::median({levels.end() - 1 - static_cast<std::ptrdiff_t>(count), levels.end() - 1});
            before = report::format_seconds(median);
            ratio = fmt::format("{:.3f}", latest.level() / median);
        }
        const std::string roofline =
            latest.percent_of_roofline ? fmt::format("{:.1f}%", *latest.percent_of_roofline) : "-";
        text += core::show("{:<{}} {:>7} {:>10} {:>10} {:>7} {:>9}  {}\n", series.title(), width, levels.size(), before,
                           report::format_seconds(latest.level()), ratio, roofline, trend_text(levels));
        for (const ChangePoint& change : history::changes_of(series, each)) {
            changes += change_line(series, change, style);
        }
    }
    return text + (changes.text().empty() ? core::show("\nNo changes.\n") : core::show("\nChanges:\n{}", changes));
}

/// What the numbers of a verdict say.
std::string summary_of(const HistoryVerdict& verdict, const HistoryView& view) {
    std::string text;
    if (verdict.tells()) {
        text = fmt::format("{} of {} benchmarks slower", verdict.slower, verdict.benchmarks);
    } else if (verdict.too_few == 0) {
        text = "none of the benchmarks is in the newest results";
    } else {
        text = fmt::format("it cannot be told of any of {} whether it is slower",
                           core::counted(verdict.too_few, "benchmark"));
    }
    if (verdict.maybe_slower != 0) {
        text += fmt::format("; of {} the next result will tell", verdict.maybe_slower);
    }
    if (verdict.too_few != 0) {
        text += fmt::format("; {} {} fewer than {} results", verdict.too_few, verdict.too_few == 1 ? "has" : "have",
                            history::fewest_results(view.settings));
    }
    if (verdict.gone != 0) {
        text += fmt::format("; {} left out: not in the newest results", verdict.gone);
    }
    return text;
}

HistoryVerdict verdict_of(const std::vector<history::Series>& all, const history::NewestResults& newest,
                          const HistoryView& view, const report::ConsoleStyle& style) {
    HistoryVerdict verdict;
    const auto each = history::for_each_of(all.size(), view.settings);
    for (const history::Series& series : all) {
        const auto judged = history::judge(series, history::changes_of(series, each), newest, each);
        if (judged.verdict == history::Verdict::gone) {
            ++verdict.gone;
            continue;
        }
        ++verdict.benchmarks;
        verdict.slower += judged.verdict == history::Verdict::slower ? 1 : 0;
        verdict.maybe_slower += judged.verdict == history::Verdict::maybe_slower ? 1 : 0;
        verdict.too_few += judged.verdict == history::Verdict::too_few ? 1 : 0;
        if (judged.verdict == history::Verdict::slower || judged.verdict == history::Verdict::maybe_slower) {
            verdict.text += change_line(series, *judged.change, style);
        }
    }
    verdict.summary = summary_of(verdict, view);
    verdict.text += core::show("{}\n", verdict.summary);
    return verdict;
}

std::uint64_t failures_of(const history::Outcome& outcome) {
    std::uint64_t failures = 0;
    for (std::size_t status = 0; status < outcome.counts.size(); ++status) {
        failures += run::is_failure(static_cast<run::Status>(status)) ? outcome.counts[status] : 0;
    }
    return failures;
}

core::ShownText outcomes_table(const std::vector<history::OutcomeSeries>& all, const report::ConsoleStyle& style) {
    std::size_t width = 8;
    for (const history::OutcomeSeries& series : all) {
        width = std::max(width, series.operator_name.size());
    }
    core::ShownText text = style.bold(core::show("{:<{}} {:<12} {:>7} {:>7} {:>9} {:>9}", "operator", width, "engine",
                                                 "results", "pass", "failures", "before")) +
                           core::show("\n");
    for (const history::OutcomeSeries& series : all) {
        const history::OutcomePoint& latest = series.points.back();
        const std::uint64_t failures = failures_of(latest.outcome);
        const std::string before = series.points.size() > 1
                                       ? fmt::to_string(failures_of(series.points[series.points.size() - 2].outcome))
                                       : "-";
        const core::ShownText count = core::show("{:>9}", failures);
        text += core::show("{:<{}} {:<12} {:>7} {:>7} {} {:>9}\n", series.operator_name, width, series.engine,
                           series.points.size(), latest.outcome.counts[static_cast<std::size_t>(run::Status::pass)],
                           failures == 0 ? count : style.status(run::Status::fail, count), before);
    }
    return text;
}

core::ShownText entries_table(const std::vector<history::Entry>& entries, const report::ConsoleStyle& style) {
    core::ShownText text = style.bold(core::show("{:>6}  {:<20}  {:<5}  {:<18}  {}", "entry", "measured", "kind",
                                                 "commit", "file, machine")) +
                           core::show("\n");
    for (const history::Entry& entry : entries) {
        text += core::show("{:>6}  {:<20}  {:<5}  {:<18}  {}{}{}\n", entry.id, history::format_moment(entry.measured),
                           history::to_string(entry.kind), commit_text(entry.commit), entry.source,
                           entry.machine.empty() ? "" : ", ", entry.machine);
    }
    return text;
}

template <class Series, class Name>
void keep_matching(std::vector<Series>& all, const std::string& filter, const Name& name) {
    if (!filter.empty()) {
        all.erase(std::remove_if(all.begin(), all.end(),
                                 [&](const Series& series) { return !run::glob_matches(filter, name(series)); }),
                  all.end());
    }
}

}  // namespace

core::Result<HistoryVerdict> history_verdict(history::Store& store, const HistoryView& view,
                                             const report::ConsoleStyle& style) {
    auto all = store.series();
    if (!all) {
        return tl::unexpected(all.error());
    }
    const history::NewestResults newest(*all, view.settings.window);
    keep_matching(*all, view.filter, [](const history::Series& entry) { return entry.benchmark; });
    if (all->empty()) {
        return core::fail(view.filter.empty() ? "there are no benchmarks in the history"
                                              : fmt::format("no benchmark in the history matches {}", view.filter),
                          "`dmlconform history add RESULT` adds what `bench --benchmark_out` writes");
    }
    return verdict_of(*all, newest, view, style);
}

core::Result<core::ShownText> history_report(history::Store& store, const HistoryView& view,
                                             const report::ConsoleStyle& style) {
    const auto entries = store.entries();
    auto series = store.series();
    auto outcomes = store.outcomes();
    if (!entries || !series || !outcomes) {
        return tl::unexpected(!entries ? entries.error() : !series ? series.error() : outcomes.error());
    }
    if (entries->empty()) {
        return core::fail("there is nothing in the history", "`dmlconform history add RESULT` adds to it");
    }
    if (view.entries) {
        return entries_table(*entries, style);
    }
    const history::NewestResults newest(*series, view.settings.window);
    keep_matching(*series, view.filter, [](const history::Series& entry) { return entry.benchmark; });
    keep_matching(*outcomes, view.filter, [](const history::OutcomeSeries& entry) { return entry.operator_name; });
    if (series->empty() && outcomes->empty()) {
        return core::fail(fmt::format("no benchmark and no operator in the history matches {}", view.filter));
    }
    // Series of the same table must be adjacent.
    std::stable_sort(series->begin(), series->end(), [](const history::Series& a, const history::Series& b) {
        return std::tie(a.machine, a.adapter) < std::tie(b.machine, b.adapter);
    });
    core::ShownText text =
        core::show("{}, {} to {}\n", core::counted(entries->size(), "result"),
                   history::format_moment(entries->front().measured), history::format_moment(entries->back().measured));
    if (!series->empty()) {
        text += core::show("\n{}\n{}\n", times_table(*series, view, style),
                           verdict_of(*series, newest, view, style).summary);
    }
    if (!outcomes->empty()) {
        text += core::show("\n{}", outcomes_table(*outcomes, style));
    }
    return text;
}

}  // namespace dmlconform::app
