// Medians, spreads, and the verdict.
#include "engine/bench/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/bench/rank_test.h"

namespace dmlconform::bench {
namespace {

/// The value below which `share` of the sample lies, between its neighbours where it falls between them.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

struct Summary {
    double median = 0;
    double spread = 0;
};

Summary summary_of(std::vector<double> sample) {
    std::sort(sample.begin(), sample.end());
    Summary summary;
    summary.median = quantile(sample, 0.5);
    summary.spread = (quantile(sample, 0.75) - quantile(sample, 0.25)) / 2 / summary.median;
    return summary;
}

Change change_of(const ComparedBenchmark& compared, const ComparisonSettings& settings) {
    const double ratio = compared.ratio();
    const bool beyond = ratio > 1 + settings.threshold || ratio < 1 / (1 + settings.threshold);
    if (!beyond) {
        return Change::none;
    }
    // Runs that scatter more than what is looked for show nothing, unless they do not even touch.
    if (compared.spread > settings.threshold && std::fabs(ratio - 1) < 2 * compared.spread) {
        return Change::unreliable;
    }
    if (compared.p >= settings.significance) {
        return Change::unreliable;
    }
    return ratio > 1 ? Change::slower : Change::faster;
}

/// Members of the context that times depend on.
bool decides_times(const std::string& name) {
    return name == "num_cpus" || name == "dmlconform.machine" ||
           (name.starts_with("dmlconform.") && (name.ends_with(".adapter") || name.ends_with(".driver")));
}

std::vector<std::string> differences_of(const BenchmarkFile& base, const BenchmarkFile& now) {
    std::vector<std::string> differences;
    for (const auto& [name, value] : base.context) {
        const auto other = now.context.find(name);
        if (decides_times(name) && other != now.context.end() && other->second != value) {
            differences.push_back(fmt::format("{}: {} and {}", name, value, other->second));
        }
    }
    return differences;
}

}  // namespace

bool RunComparison::regressed() const {
    return std::any_of(benchmarks.begin(), benchmarks.end(),
                       [](const ComparedBenchmark& compared) { return compared.change == Change::slower; });
}

RunComparison compare_runs(const BenchmarkFile& base, const BenchmarkFile& now, const ComparisonSettings& settings) {
    RunComparison comparison;
    comparison.differences = differences_of(base, now);
    for (const auto& [name, times] : base.benchmarks) {
        const auto other = now.benchmarks.find(name);
        if (other == now.benchmarks.end()) {
            comparison.missing.push_back(name);
            continue;
        }
        const Summary before = summary_of(times.seconds);
        const Summary after = summary_of(other->second.seconds);
        ComparedBenchmark compared{name,
                                   Change::none,
                                   before.median,
                                   after.median,
                                   std::max(before.spread, after.spread),
                                   mann_whitney_p(times.seconds, other->second.seconds)};
        compared.change = change_of(compared, settings);
        comparison.benchmarks.push_back(std::move(compared));
    }
    for (const auto& [name, times] : now.benchmarks) {
        if (!base.benchmarks.contains(name)) {
            comparison.added.push_back(name);
        }
    }
    std::stable_sort(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                     [](const ComparedBenchmark& a, const ComparedBenchmark& b) { return a.ratio() > b.ratio(); });
    return comparison;
}

}  // namespace dmlconform::bench
