// Medians, spreads, and the verdict.
#include "engine/bench/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "engine/bench/quantiles.h"
#include "engine/bench/rank_test.h"

namespace dmlconform::bench {
namespace {

/// `doubt` is how far from 1 a ratio may be by accident.
Change change_of(const ComparedBenchmark& compared, double doubt, const ComparisonSettings& settings) {
    const double ratio = compared.ratio;
    const bool beyond = ratio > 1 + settings.threshold || ratio < 1 / (1 + settings.threshold);
    if (!beyond) {
        return Change::none;
    }
    if (std::fabs(ratio - 1) < doubt || compared.p >= settings.significance) {
        return Change::unreliable;
    }
    return ratio > 1 ? Change::slower : Change::faster;
}

/// True for members of the context that affect times.
bool decides_times(const std::string& name) {
    return name == "num_cpus" || name == "dmlconform.machine" ||
           (name.starts_with("dmlconform.") && (name.ends_with(".adapter") || name.ends_with(".driver")));
}

void add_differences(const BenchmarkFile& base, const BenchmarkFile& other, std::set<std::string>& differences) {
    for (const auto& [name, value] : base.context) {
        const auto found = other.context.find(name);
        if (decides_times(name) && found != other.context.end() && found->second != value) {
            differences.insert(fmt::format("{}: {} and {}", name, value, found->second));
        }
    }
}

/// The repetitions of each run that has the benchmark; only settled runs if there are any.
struct Repeated {
    std::vector<std::vector<double>> runs;
    bool settled = false;
};
using RunsByName = std::map<std::string, Repeated>;

void add_run(Repeated& repeated, const std::vector<double>& seconds, bool settled) {
    if (settled && !repeated.settled) {
        repeated = {{}, true};
    }
    if (settled == repeated.settled) {
        repeated.runs.push_back(seconds);
    }
}

RunsByName runs_of(std::span<const BenchmarkFile> files) {
    RunsByName runs;
    for (const BenchmarkFile& file : files) {
        for (const auto& [name, times] : file.benchmarks) {
            add_run(runs[name], times.seconds, !times.unsettled());
        }
    }
    return runs;
}

/// The same for the nodes of a graph.
RunsByName runs_of_nodes(std::span<const BenchmarkFile> files, const std::string& benchmark) {
    RunsByName runs;
    for (const BenchmarkFile& file : files) {
        const auto found = file.benchmarks.find(benchmark);
        if (found == file.benchmarks.end()) {
            continue;
        }
        for (const auto& [node, seconds] : found->second.nodes) {
            add_run(runs[node], seconds, !found->second.unsettled());
        }
    }
    return runs;
}

/// Finds benchmarks with the same name in both files but different descriptors.
void add_renamed(const BenchmarkFile& base, const BenchmarkFile& other, std::set<std::string>& differences) {
    for (const auto& [name, times] : base.benchmarks) {
        const auto found = other.benchmarks.find(name);
        if (found != other.benchmarks.end() && !times.descriptor.empty() && !found->second.descriptor.empty() &&
            times.descriptor != found->second.descriptor) {
            differences.insert(fmt::format("{}: the descriptors of that name differ", name));
        }
    }
}

/// The operator according to the first file that has the benchmark.
std::string label_of(std::span<const BenchmarkFile> files, const std::string& name) {
    for (const BenchmarkFile& file : files) {
        if (const auto found = file.benchmarks.find(name); found != file.benchmarks.end()) {
            return found->second.label;
        }
    }
    return {};
}

/// The sample of one side: one number for each run, or one for each repetition.
std::vector<double> sample_of(const std::vector<std::vector<double>>& runs, bool by_run) {
    std::vector<double> sample;
    for (const std::vector<double>& run : runs) {
        if (by_run) {
            sample.push_back(median(run));
        } else {
            sample.insert(sample.end(), run.begin(), run.end());
        }
    }
    return sample;
}

constexpr double confidence = 0.95;

Interval exponential(const Interval& logarithms) {
    return {std::exp(logarithms.least), std::exp(logarithms.greatest)};
}

std::vector<double> logarithms(std::vector<double> values) {
    std::transform(values.begin(), values.end(), values.begin(), [](double value) { return std::log(value); });
    return values;
}

ComparedBenchmark compare_benchmark(const std::string& name, const Repeated& base, const Repeated& now,
                                    const ComparisonSettings& settings) {
    const bool by_run = base.runs.size() >= least_runs && now.runs.size() >= least_runs;
    const auto before = sample_of(base.runs, by_run);
    const auto after = sample_of(now.runs, by_run);
    const double base_median = median(before);
    const double now_median = median(after);
    ComparedBenchmark compared{name,
                               Change::none,
                               base_median,
                               now_median,
                               now_median / base_median,
                               exponential(shift_interval(logarithms(before), logarithms(after), confidence)),
                               std::max(spread(before), spread(after)),
                               mann_whitney_p(before, after),
                               before.size(),
                               after.size(),
                               base.settled && now.settled};
    if (least_mann_whitney_p(before.size(), after.size()) >= settings.significance) {
        compared.change = Change::too_few;
    } else if (!compared.settled) {
        compared.change = Change::unreliable;
    } else {
        // Runs that scatter more than what is looked for show nothing, unless they do not even touch.
        compared.change = change_of(compared, compared.spread > settings.threshold ? 2 * compared.spread : 0, settings);
    }
    return compared;
}

ComparedBenchmark compare_pairs(const std::string& name, const std::vector<std::pair<double, double>>& pairs,
                                const ComparisonSettings& settings) {
    std::vector<double> before;
    std::vector<double> after;
    std::vector<double> ratios;
    std::vector<double> differences;
    for (const auto& [base, now] : pairs) {
        before.push_back(base);
        after.push_back(now);
        ratios.push_back(now / base);
        differences.push_back(now - base);
    }
    ComparedBenchmark compared{name,           Change::none,
                               median(before), median(after),
                               median(ratios), exponential(median_interval(logarithms(ratios), confidence)),
                               spread(ratios), sign_p(differences),
                               pairs.size(),   pairs.size()};
    // Each sign may be either.
    if (std::exp2(1 - static_cast<double>(pairs.size())) >= settings.significance) {
        compared.change = Change::too_few;
        return compared;
    }
    // Twice the standard error of a median: sqrt(pi / 2) / sqrt(n) standard deviations, which are the half width of
    // a normal distribution's middle half over 0.6745.
    const double error = std::sqrt(std::numbers::pi / 2 / static_cast<double>(pairs.size())) *
                         (compared.spread * compared.ratio / 0.6745);
    compared.change = change_of(compared, 2 * error, settings);
    return compared;
}

/// Medians of pairs of runs that both have the benchmark settled.
using Pairs = std::map<std::string, std::vector<std::pair<double, double>>>;

Pairs pairs_of(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now) {
    Pairs pairs;
    for (std::size_t i = 0; i < base.size(); ++i) {
        for (const auto& [name, times] : base[i].benchmarks) {
            if (const auto other = now[i].benchmarks.find(name);
                other != now[i].benchmarks.end() && !times.unsettled() && !other->second.unsettled()) {
                pairs[name].emplace_back(median(times.seconds), median(other->second.seconds));
            }
        }
    }
    return pairs;
}

std::vector<ComparedBenchmark> compare_nodes(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now,
                                             const std::string& benchmark, const ComparisonSettings& settings) {
    const RunsByName before = runs_of_nodes(base, benchmark);
    const RunsByName after = runs_of_nodes(now, benchmark);
    std::vector<ComparedBenchmark> nodes;
    for (const auto& [node, runs] : before) {
        if (const auto other = after.find(node); other != after.end()) {
            nodes.push_back(compare_benchmark(node, runs, other->second, settings));
        }
    }
    std::ranges::stable_sort(nodes, std::ranges::greater(),
                             [](const ComparedBenchmark& node) { return node.now - node.base; });
    return nodes;
}

}  // namespace

const char* to_string(Change change) {
    constexpr std::array names{"as before", "slower", "faster", "unreliable", "too few"};
    return names[static_cast<std::size_t>(change)];
}

bool RunComparison::regressed() const {
    return std::any_of(benchmarks.begin(), benchmarks.end(),
                       [](const ComparedBenchmark& compared) { return compared.change == Change::slower; });
}

std::size_t RunComparison::undecided() const {
    return static_cast<std::size_t>(
        std::count_if(benchmarks.begin(), benchmarks.end(), [](const ComparedBenchmark& compared) {
            const bool maybe_slower = compared.ratio > 1 || !compared.settled;
            return compared.change == Change::too_few || (compared.change == Change::unreliable && maybe_slower);
        }));
}

MeanRatio RunComparison::mean() const {
    double sum = 0;
    for (const ComparedBenchmark& compared : benchmarks) {
        sum += std::log(compared.ratio);
    }
    return {benchmarks.empty() ? 1 : std::exp(sum / static_cast<double>(benchmarks.size())), benchmarks.size()};
}

std::map<std::string, MeanRatio> RunComparison::mean_by_operator() const {
    std::map<std::string, RunComparison> groups;
    for (const ComparedBenchmark& compared : benchmarks) {
        if (!compared.op.empty()) {
            groups[compared.op].benchmarks.push_back(compared);
        }
    }
    std::map<std::string, MeanRatio> means;
    for (const auto& [op, group] : groups) {
        means[op] = group.mean();
    }
    return means;
}

RunComparison compare_runs(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now,
                           const ComparisonSettings& settings) {
    RunComparison comparison;
    std::set<std::string> differences;
    for (const auto files : {base, now}) {
        for (const BenchmarkFile& file : files) {
            add_differences(base.front(), file, differences);
            add_renamed(base.front(), file, differences);
        }
    }
    comparison.differences.assign(differences.begin(), differences.end());
    const RunsByName before = runs_of(base);
    const RunsByName after = runs_of(now);
    const Pairs pairs = settings.paired ? pairs_of(base, now) : Pairs();
    for (const auto& [name, runs] : before) {
        if (const auto paired = pairs.find(name); paired != pairs.end()) {
            comparison.benchmarks.push_back(compare_pairs(name, paired->second, settings));
        } else if (const auto other = after.find(name); other != after.end()) {
            comparison.benchmarks.push_back(compare_benchmark(name, runs, other->second, settings));
        } else {
            comparison.missing.push_back(name);
        }
    }
    for (ComparedBenchmark& compared : comparison.benchmarks) {
        compared.op = label_of(now, compared.name);
        compared.nodes = compare_nodes(base, now, compared.name, settings);
    }
    for (const auto& [name, runs] : after) {
        if (!before.contains(name)) {
            comparison.added.push_back(name);
        }
    }
    std::stable_sort(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                     [](const ComparedBenchmark& a, const ComparedBenchmark& b) { return a.ratio > b.ratio; });
    return comparison;
}

}  // namespace dmlconform::bench
