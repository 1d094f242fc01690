// Formats medians, spreads and rates in columns.
#include "engine/bench/line_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/bench/conditions.h"
#include "engine/bench/quantiles.h"
#include "engine/bench/repetitions.h"
#include "engine/bench/steadiness.h"
#include "engine/core/shown_text.h"
#include "engine/report/console_style.h"
#include "engine/report/text_table.h"

namespace dmlconform::bench {
namespace {

/// Everything behind the name, with the longest single mark.
constexpr std::size_t numbers_width = 60;

/// A number with three digits that count, or nothing.
std::string rate_text(const std::optional<double>& rate, double unit) {
    return rate ? fmt::format("{:.3g}", *rate / unit) : "";
}

/// Fewer repetitions have no spread.
constexpr std::size_t least_spread = 3;

std::string spread_text(const std::vector<double>& seconds) {
    return seconds.size() < least_spread ? "-" : fmt::format("{:.1f}%", 100 * spread(seconds));
}

std::string percent_text(const std::optional<double>& percent) {
    return percent ? fmt::format("{:.0f}%", *percent) : "";
}

/// The precision of the reference comparison, in bits.
std::string bits_text(const std::optional<double>& bits) {
    return bits ? fmt::format("{:.1f}", *bits) : "";
}

/// One line for each node of a graph, the slowest first: its time, and its share of the total.
std::string node_lines(const std::vector<benchmark::BenchmarkReporter::Run>& report, std::size_t width) {
    constexpr std::string_view before = "node ";
    constexpr std::string_view after = " µs";
    std::vector<std::pair<double, std::string>> nodes;
    for (const auto& [name, counter] : report.front().counters) {
        if (name.starts_with(before) && name.ends_with(after)) {
            nodes.emplace_back(median_counter(report, name).value_or(0),
                               name.substr(before.size(), name.size() - before.size() - after.size()));
        }
    }
    std::ranges::sort(nodes, std::greater<>());
    double sum = 0;
    for (const auto& [microseconds, name] : nodes) {
        sum += microseconds;
    }
    std::string lines;
    for (const auto& [microseconds, name] : nodes) {
        lines += core::show("  {:<{}}", name, std::max<std::size_t>(width, 2) - 2).text();
        lines +=
            fmt::format(" {:>9} {:>6.1f}%\n", report::format_seconds(microseconds / 1e6), 100 * microseconds / sum);
    }
    return lines;
}

/// The name, and blanks up to where the numbers begin: in the next line if it does not fit.
std::string name_text(const std::string& name, std::size_t width) {
    const std::string shown = core::show("{}", name).text();
    const std::size_t characters = report::characters_in(shown);
    return characters > width ? shown + "\n" + std::string(width, ' ') : shown + std::string(width - characters, ' ');
}

/// What is to be known of the numbers.
std::string mark_of(const Repetitions& repetitions, bool disturbed, bool noisy, bool unverified) {
    return std::string(repetitions.unsettled ? "  unsettled"
                       : disturbed           ? "  disturbed"
                       : noisy               ? "  noisy"
                                             : "") +
           (unverified ? "  unverified" : "");
}

/// "The benchmark", "All 3 benchmarks", "1 of 3 benchmarks".
std::string counted(std::size_t count, std::size_t all) {
    return all == 1       ? std::string("The benchmark")
           : count == all ? fmt::format("All {} benchmarks", all)
                          : fmt::format("{} of {} benchmarks", count, all);
}

/// How many of the repetitions, or of the processes, failed, and why.
std::string failure_text(const Repetitions& repetitions, std::size_t processes) {
    if (processes == 0 && repetitions.seconds.empty()) {
        return core::show("failed: {}", repetitions.error).text();
    }
    const std::size_t all = processes != 0 ? processes : repetitions.seconds.size() + repetitions.failures;
    const std::string many = processes != 0 ? "processes" : "repetitions";
    return core::show("failed in {} of {} {}: {}", repetitions.failures, all, many, repetitions.error).text();
}

/// By what share the yardstick's times differ; 0 if there are none.
double speed_change(const std::vector<benchmark::BenchmarkReporter::Run>& report) {
    std::vector<double> times;
    for (const auto& run : report) {
        if (const auto found = run.counters.find(yardstick_counter); found != run.counters.end()) {
            times.push_back(found->second.value);
        }
    }
    // A single disturbed yardstick says nothing about the others.
    if (times.size() < 3) {
        return 0;
    }
    std::ranges::sort(times);
    return quantile(times, 0.75) / quantile(times, 0.25) - 1;
}

}  // namespace

bool LineReporter::ReportContext(const Context& context) {
    constexpr std::size_t shortest = 9;
    const std::size_t room = width_ == 0 ? context.name_field_width : width_ - std::min(width_, numbers_width);
    name_width_ = std::max(shortest, std::min(context.name_field_width, room));
    GetOutputStream() << fmt::format("{:<{}} {:>9} {:>7} {:>7} {:>7} {:>8} {:>5}\n", "benchmark", name_width_, "median",
                                     "spread", "GB/s", "GFLOP/s", "roofline", "bits");
    return true;
}

void LineReporter::ReportRuns(const std::vector<Run>& report) {
    const Repetitions repetitions = repetitions_of(report, timed_by_devices_);
    const bool only_aggregates = repetitions.seconds.empty() && repetitions.error.empty();
    if (only_aggregates) {
        return;
    }
    ++count_;
    std::string line = name_text(repetitions.name, name_width_);
    if (repetitions.seconds.empty()) {
        line += " " + failure_text(repetitions, processes_);
    } else {
        const bool noisy = !repetitions.unsettled && repetitions.seconds.size() >= least_spread &&
                           spread(repetitions.seconds) > noisy_spread;
        line +=
            fmt::format(" {:>9} {:>7} {:>7} {:>7} {:>8} {:>5}", report::format_seconds(median(repetitions.seconds)),
                        spread_text(repetitions.seconds), rate_text(median_counter(report, "bytes_per_second"), 1e9),
                        rate_text(median_counter(report, "operations_per_second"), 1e9),
                        percent_text(median_counter(report, "percent_of_roofline")),
                        bits_text(median_counter(report, "effective_bits")));
        const double waited = median_counter(report, waited_counter).value_or(0);
        const double change = speed_change(report);
        longest_wait_ = std::max(longest_wait_, waited);
        largest_change_ = std::max(largest_change_, change);
        const bool disturbed = waited > disturbing_wait || change > disturbing_speed;
        disturbed_ += disturbed ? 1 : 0;
        line += mark_of(repetitions, disturbed, noisy, median_counter(report, "unverified").has_value());
        unsettled_ += repetitions.unsettled ? 1 : 0;
        noisy_ += noisy ? 1 : 0;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (!repetitions.seconds.empty() && repetitions.failures != 0) {
        line += "\n    " + failure_text(repetitions, processes_);
    }
    GetOutputStream() << line << "\n" << node_lines(report, name_width_) << std::flush;
}

void LineReporter::Finalize() {
    // Lines fit 80 columns, however large the numbers are.
    if (unsettled_ != 0) {
        GetOutputStream() << fmt::format(
            "\n{} did not settle: the repetitions drift.\n    `compare` does not use {}.\n",
            counted(unsettled_, count_), unsettled_ == 1 ? "it" : "them");
    }
    if (disturbed_ != 0) {
        GetOutputStream() << fmt::format("\n{} {} disturbed:\n", counted(disturbed_, count_),
                                         disturbed_ == 1 ? "was" : "were");
        if (longest_wait_ > disturbing_wait) {
            GetOutputStream() << fmt::format(
                "    Other processes used the processors: up to {:.0f}% of the time was waiting.\n",
                100 * longest_wait_);
        }
        if (largest_change_ > disturbing_speed) {
            GetOutputStream() << fmt::format(
                "    The processor's speed changed by up to {:.0f}%: its clock rate, or others\n"
                "    on the same core.\n",
                100 * largest_change_);
        }
    }
    if (noisy_ != 0) {
        GetOutputStream() << fmt::format(
            "\n{} {} noisy: the spread is above {:g}%.\n    Small changes cannot be seen.\n", counted(noisy_, count_),
            noisy_ == 1 ? "is" : "are", 100 * noisy_spread);
    }
    GetOutputStream().flush();
}

}  // namespace dmlconform::bench
