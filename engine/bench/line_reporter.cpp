// Medians, spreads and rates in columns.
#include "engine/bench/line_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "engine/bench/quantiles.h"
#include "engine/bench/repetitions.h"
#include "engine/core/shown_text.h"
#include "engine/report/console_style.h"

namespace dmlconform::bench {
namespace {

/// A number with three digits that count, or nothing.
std::string rate_text(const std::optional<double>& rate, double unit) {
    return rate ? fmt::format("{:.3g}", *rate / unit) : "";
}

std::string percent_text(const std::optional<double>& percent) {
    return percent ? fmt::format("{:.0f}%", *percent) : "";
}

}  // namespace

bool LineReporter::ReportContext(const Context& context) {
    name_width_ = std::max<std::size_t>(context.name_field_width, 9);
    GetOutputStream() << fmt::format("{:<{}} {:>9} {:>7} {:>8} {:>8} {:>8}\n", "benchmark", name_width_, "median",
                                     "spread", "GB/s", "GFLOP/s", "roofline");
    return true;
}

void LineReporter::ReportRuns(const std::vector<Run>& report) {
    const Repetitions repetitions = repetitions_of(report, timed_by_devices_);
    const bool only_aggregates = repetitions.seconds.empty() && repetitions.error.empty();
    if (only_aggregates) {
        return;
    }
    ++count_;
    std::string line = core::show("{:<{}}", repetitions.name, name_width_).text();
    if (repetitions.seconds.empty()) {
        line += core::show(" failed: {}", repetitions.error).text();
    } else {
        line +=
            fmt::format(" {:>9} {:>6.1f}% {:>8} {:>8} {:>8}", report::format_seconds(median(repetitions.seconds)),
                        100 * spread(repetitions.seconds), rate_text(median_counter(report, "bytes_per_second"), 1e9),
                        rate_text(median_counter(report, "operations_per_second"), 1e9),
                        percent_text(median_counter(report, "percent_of_roofline")));
        line += repetitions.unsettled ? "  unsettled" : "";
        line += median_counter(report, "unverified") ? "  unverified" : "";
        unsettled_ += repetitions.unsettled ? 1 : 0;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    GetOutputStream() << line << std::endl;
}

void LineReporter::Finalize() {
    if (unsettled_ != 0) {
        GetOutputStream() << fmt::format(
            "\n{} of {} benchmarks did not settle: the repetitions drift. `compare` does not use them.\n", unsettled_,
            count_);
    }
    GetOutputStream().flush();
}

}  // namespace dmlconform::bench
