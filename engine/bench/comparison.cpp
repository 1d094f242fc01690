// Medians, spreads, and the verdict.
#include "engine/bench/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/bench/benchmark_name.h"
#include "engine/bench/process_sample.h"
#include "engine/bench/quantiles.h"
#include "engine/bench/rank_test.h"
#include "engine/bench/significance.h"

namespace dmlconform::bench {
namespace {

constexpr double confidence = 0.95;

/// With fewer degrees of freedom, a variance is hardly known.
constexpr std::size_t least_freedom = 8;
/// Variances are pooled over benchmarks if each side has this many processes.
constexpr std::size_t least_pooled = 3;

Interval exponential(const Interval& logarithms) {
    return {std::exp(logarithms.least), std::exp(logarithms.greatest)};
}

std::vector<double> logarithms(std::vector<double> values) {
    std::transform(values.begin(), values.end(), values.begin(), [](double value) { return std::log(value); });
    return values;
}

bool is_clock(const std::string& name) {
    return name.starts_with("dmlconform.") && name.ends_with(".clock");
}

/// True for members of the context that affect times.
bool decides_times(const std::string& name) {
    return name == "num_cpus" || name == "dmlconform.machine" || is_clock(name) ||
           (name.starts_with("dmlconform.") && (name.ends_with(".adapter") || name.ends_with(".driver")));
}

/// Whether the times of two files may have been measured by the same clock. An engine has several clocks ("the
/// processor's clock, the wall clock") if that depends on the benchmark, and names end with the clock.
bool have_common_clock(std::string_view one, std::string_view other) {
    constexpr std::string_view between = ", ";
    for (std::size_t begin = 0; begin <= one.size();) {
        const std::size_t end = std::min(one.find(between, begin), one.size());
        const std::string wanted = fmt::format("{}{}{}", between, one.substr(begin, end - begin), between);
        if (fmt::format("{}{}{}", between, other, between).find(wanted) != std::string::npos) {
            return true;
        }
        begin = end + between.size();
    }
    return false;
}

/// Whether each value fits each other one.
template <class Value, class Fit>
bool all_fit(const std::vector<Value>& values, const Fit& fit) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t j = i + 1; j < values.size(); ++j) {
            if (!fit(values[i], values[j])) {
                return false;
            }
        }
    }
    return true;
}

/// All files, those of the base first: the order says nothing about which of them differ.
using Files = std::vector<const BenchmarkFile*>;

/// Finds members of the context that differ.
void add_differences(const Files& files, std::set<std::string>& differences) {
    std::map<std::string, std::vector<std::string>> values_by_name;
    for (const BenchmarkFile* file : files) {
        for (const auto& [name, value] : file->context) {
            auto& values = values_by_name[name];
            if (decides_times(name) && std::ranges::find(values, value) == values.end()) {
                values.push_back(value);
            }
        }
    }
    for (const auto& [name, values] : values_by_name) {
        const bool is_same = is_clock(name) ? all_fit(values, have_common_clock) : values.size() < 2;
        if (!is_same) {
            differences.insert(fmt::format("{}: {}", name, fmt::join(values, " and ")));
        }
    }
}

/// Finds benchmarks with the same name but different descriptors.
void add_renamed(const Files& files, std::set<std::string>& differences) {
    std::map<std::string_view, std::string_view> descriptors;
    for (const BenchmarkFile* file : files) {
        for (const auto& [name, times] : file->benchmarks) {
            if (!times.descriptor.empty() &&
                descriptors.try_emplace(name, times.descriptor).first->second != times.descriptor) {
                differences.insert(fmt::format("{}: the descriptors of that name differ", name));
            }
        }
    }
}

/// Finds benchmarks that two files have by different clocks only.
void add_other_clocks(const Files& files, std::set<std::string>& differences) {
    using Clocks = std::set<std::string>;
    std::map<std::string, std::vector<Clocks>> clocks_by_name;
    for (const BenchmarkFile* file : files) {
        std::map<std::string, Clocks> of_file;
        for (const auto& [name, times] : file->benchmarks) {
            const BenchmarkName parts = split_name(name);
            if (!parts.clock.empty()) {
                of_file[std::string(parts.name)].emplace(parts.clock);
            }
        }
        for (auto& [name, clocks] : of_file) {
            auto& all = clocks_by_name[name];
            if (std::ranges::find(all, clocks) == all.end()) {
                all.push_back(std::move(clocks));
            }
        }
    }
    const auto overlap = [](const Clocks& one, const Clocks& other) {
        return std::ranges::any_of(one, [&](const std::string& clock) { return other.contains(clock); });
    };
    for (const auto& [name, all] : clocks_by_name) {
        if (!all_fit(all, overlap)) {
            std::vector<std::string> in_order;
            for (const Clocks& clocks : all) {
                std::ranges::copy_if(clocks, std::back_inserter(in_order), [&](const std::string& clock) {
                    return std::ranges::find(in_order, clock) == in_order.end();
                });
            }
            differences.insert(fmt::format("{}: timed by {}", name, fmt::join(in_order, ", and by ")));
        }
    }
}

/// Sets why the files cannot be compared.
void set_differences(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now,
                     RunComparison& comparison) {
    Files files;
    for (const auto side : {base, now}) {
        for (const BenchmarkFile& file : side) {
            files.push_back(&file);
        }
    }
    std::set<std::string> differences;
    add_differences(files, differences);
    add_renamed(files, differences);
    const std::size_t others = differences.size();
    add_other_clocks(files, differences);
    comparison.by_other_clocks = differences.size() != others;
    comparison.differences.assign(differences.begin(), differences.end());
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

/// Pairs are tested in two ways, so that p-values are doubled. The sign test forgets whatever disturbs both runs of a
/// pair. The Mann-Whitney test finds more if disturbances are shorter than a run: each side is first in every second
/// pair, so that runs might as well have been made by the other side if nothing has changed.
constexpr double pair_tests = 2;

/// Times of pairs of runs that both have the benchmark settled.
using Pairs = std::vector<std::pair<double, double>>;

std::map<std::string, Pairs> pairs_of(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now) {
    std::map<std::string, Pairs> pairs;
    for (std::size_t i = 0; i < base.size(); ++i) {
        for (const auto& [name, times] : base[i].benchmarks) {
            if (const auto other = now[i].benchmarks.find(name);
                other != now[i].benchmarks.end() && !times.unsettled() && !other->second.unsettled()) {
                const bool by_processor = split_name(name).by_processor;
                pairs[name].emplace_back(median(times_of_processes(times, by_processor)),
                                         median(times_of_processes(other->second, by_processor)));
            }
        }
    }
    return pairs;
}

/// A benchmark before it is judged.
struct Measured {
    ComparedBenchmark compared;
    /// False if no difference, however large, could be significant.
    bool decidable = false;
    /// How far the logarithm of the ratio may be from 0 for other reasons than a change.
    double allowance = 0;
    /// What explains the allowance.
    Doubt cause = Doubt::not_significant;
};

Measured measure_pairs(const std::string& name, const Pairs& pairs, std::size_t benchmarks,
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
    Measured measured;
    ComparedBenchmark& compared = measured.compared;
    compared.name = name;
    compared.base = median(before);
    compared.now = median(after);
    compared.ratio = median(ratios);
    compared.interval = exponential(median_interval(logarithms(ratios), confidence));
    compared.spread = spread(ratios);
    compared.p = std::min(1.0, pair_tests * std::min(sign_p(differences), mann_whitney_p(before, after)));
    compared.base_count = compared.now_count = pairs.size();
    measured.decidable = pairs.size() >= pairs_needed(benchmarks, settings.significance);
    // Twice the standard error of a median: sqrt(pi / 2) / sqrt(n) standard deviations, which are the half width of
    // a normal distribution's middle half over 0.6745.
    measured.allowance =
        2 * std::sqrt(std::numbers::pi / 2 / static_cast<double>(pairs.size())) * (compared.spread / 0.6745);
    return measured;
}

/// Tests the difference by ranks; with too few processes, by a variance that other benchmarks or results tell.
void test(Measured& measured, const ProcessSample& base, const ProcessSample& now, std::size_t benchmarks,
          const std::optional<LearnedScatter>& pooled, const ComparisonSettings& settings) {
    ComparedBenchmark& compared = measured.compared;
    const double distance = std::fabs(std::log(compared.ratio));
    const auto m = static_cast<double>(base.times.size());
    const auto n = static_cast<double>(now.times.size());
    const double least = least_mann_whitney_p(base.times.size(), now.times.size());
    measured.decidable = least * static_cast<double>(benchmarks) < settings.significance;
    compared.p = mann_whitney_p(base.times, now.times);
    if (!measured.decidable && pooled) {
        measured.decidable = true;
        const double deviation = std::max({pooled->deviation, base.deviation(), now.deviation()});
        compared.p = student_p(distance / (deviation * std::sqrt(1 / m + 1 / n)), static_cast<double>(pooled->freedom));
    }
    const auto learned = settings.learned.find(compared.name);
    if (learned != settings.learned.end() && learned->second.freedom >= least_freedom) {
        // Results differ from each other by more than their processes do.
        const double p = student_p(distance / (learned->second.deviation * std::numbers::sqrt2),
                                   static_cast<double>(learned->second.freedom));
        compared.p = measured.decidable ? std::max(compared.p, p) : p;
        measured.decidable = true;
    }
}

Measured measure_processes(const std::string& name, const ProcessSample& base, const ProcessSample& now,
                           std::size_t benchmarks, const std::optional<LearnedScatter>& pooled,
                           const ComparisonSettings& settings) {
    Measured measured;
    ComparedBenchmark& compared = measured.compared;
    compared.name = name;
    compared.base = median(base.times);
    compared.now = median(now.times);
    compared.ratio = compared.now / compared.base;
    compared.interval = exponential(shift_interval(logarithms(base.times), logarithms(now.times), confidence));
    compared.spread = std::max(spread(base.times), spread(now.times));
    compared.base_count = base.times.size();
    compared.now_count = now.times.size();
    compared.base_left_out = base.left_out;
    compared.now_left_out = now.left_out;
    // Waiting, and what several threads make of it, lengthen times by the wall clock in ways that their usual value
    // does not tell.
    compared.conditions =
        split_name(name).by_processor ? difference_of_conditions(base, now) : range_of_conditions(base, now);
    test(measured, base, now, benchmarks, pooled, settings);
    compared.waited = std::max(base.usual_wait(), now.usual_wait());
    const bool busy = compared.waited > most_usual_wait;
    measured.allowance = busy ? std::numeric_limits<double>::infinity() : sensitivity * std::log(compared.conditions);
    measured.cause = busy ? Doubt::busy : Doubt::conditions;
    if (!base.settled || !now.settled) {
        compared.doubt = Doubt::unsettled;
    }
    return measured;
}

/// Whether no ratio in the interval is within the threshold. True for an interval that is not known.
bool is_beyond(const Interval& interval, double threshold) {
    return !std::isfinite(interval.greatest) || interval.least > 1 + threshold ||
           interval.greatest < 1 / (1 + threshold);
}

void judge(Measured& measured, const ComparisonSettings& settings) {
    ComparedBenchmark& compared = measured.compared;
    const double distance = std::fabs(std::log(compared.ratio));
    const bool significant = compared.p < settings.significance;
    if (!measured.decidable && !significant) {
        compared.change = Change::too_few;
        compared.doubt = Doubt::too_few;
    } else if (compared.doubt == Doubt::unsettled) {
        compared.change = Change::unreliable;
    } else if (distance <= std::log1p(settings.threshold)) {
        compared.change = Change::none;
    } else if (!significant || distance <= measured.allowance) {
        compared.change = Change::unreliable;
        compared.doubt = significant ? measured.cause : Doubt::not_significant;
    } else if (!is_beyond(compared.interval, settings.threshold)) {
        compared.change = Change::unreliable;
        compared.doubt = Doubt::near_threshold;
    } else {
        compared.change = compared.ratio > 1 ? Change::slower : Change::faster;
    }
}

/// The deviation within sides, over all benchmarks; empty if too little is known.
std::optional<LearnedScatter> pooled_scatter(const SamplesByName& before, const SamplesByName& after) {
    double squares = 0;
    std::size_t freedom = 0;
    for (const auto& [name, base] : before) {
        const auto other = after.find(name);
        if (other == after.end()) {
            continue;
        }
        for (const ProcessSample* sample : {&base, &other->second}) {
            if (sample->times.size() >= least_pooled) {
                const std::size_t mine = sample->times.size() - 1;
                squares += sample->deviation() * sample->deviation() * static_cast<double>(mine);
                freedom += mine;
            }
        }
    }
    return freedom < least_freedom
               ? std::nullopt
               : std::optional(LearnedScatter{std::sqrt(squares / static_cast<double>(freedom)), freedom});
}

/// Everything that both sides have, measured but not judged.
std::vector<Measured> measure_all(const SamplesByName& before, const SamplesByName& after,
                                  const std::map<std::string, Pairs>& pairs, const ComparisonSettings& settings) {
    const auto scatter = pooled_scatter(before, after);
    const auto common = static_cast<std::size_t>(
        std::ranges::count_if(before, [&](const auto& entry) { return after.contains(entry.first); }));
    std::vector<Measured> all;
    for (const auto& [name, base] : before) {
        const auto other = after.find(name);
        if (const auto paired = pairs.find(name); paired != pairs.end()) {
            all.push_back(measure_pairs(name, paired->second, common, settings));
        } else if (other != after.end()) {
            const bool enough = std::min(base.times.size(), other->second.times.size()) >= least_pooled;
            all.push_back(
                measure_processes(name, base, other->second, common, enough ? scatter : std::nullopt, settings));
        }
    }
    return all;
}

/// Judges everything that both sides have, with p-values corrected for their number.
std::vector<ComparedBenchmark> judge_all(const SamplesByName& before, const SamplesByName& after,
                                         const std::map<std::string, Pairs>& pairs,
                                         const ComparisonSettings& settings) {
    auto measured = measure_all(before, after, pairs, settings);
    std::vector<double> p;
    std::ranges::transform(measured, std::back_inserter(p), [](const Measured& entry) { return entry.compared.p; });
    const std::vector<double> corrected = correct_for_number(p);
    std::vector<ComparedBenchmark> judged;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        measured[i].compared.p = corrected[i];
        judge(measured[i], settings);
        judged.push_back(std::move(measured[i].compared));
    }
    return judged;
}

/// Nodes do not decide anything, so that they are not paired, and no history knows them.
std::vector<ComparedBenchmark> compare_nodes(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now,
                                             const std::string& benchmark, ComparisonSettings settings) {
    settings.learned.clear();
    auto nodes = judge_all(samples_of_nodes(base, benchmark), samples_of_nodes(now, benchmark), {}, settings);
    std::ranges::stable_sort(nodes, std::ranges::greater(),
                             [](const ComparedBenchmark& node) { return node.now - node.base; });
    return nodes;
}

}  // namespace

const char* to_string(Change change) {
    constexpr std::array names{"as before", "slower", "faster", "unreliable", "too few"};
    return names[static_cast<std::size_t>(change)];
}

std::size_t processes_needed(std::size_t benchmarks, double significance) {
    constexpr std::size_t most = 1000;
    std::size_t processes = 1;
    while (processes < most &&
           least_mann_whitney_p(processes, processes) * static_cast<double>(benchmarks) >= significance) {
        ++processes;
    }
    return processes;
}

std::size_t pairs_needed(std::size_t benchmarks, double significance) {
    std::size_t pairs = least_pairs;
    // The least p-value of the sign test is at least as large, so it does not decide.
    while (pair_tests * least_mann_whitney_p(pairs, pairs) * static_cast<double>(benchmarks) >= significance) {
        ++pairs;
    }
    return pairs;
}

std::size_t RunComparison::count(Change change) const {
    return static_cast<std::size_t>(std::ranges::count(benchmarks, change, &ComparedBenchmark::change));
}

bool RunComparison::regressed() const {
    return count(Change::slower) != 0;
}

bool is_undecided(const ComparedBenchmark& compared) {
    const bool maybe_slower = compared.ratio > 1 || compared.doubt == Doubt::unsettled;
    return compared.change == Change::too_few || (compared.change == Change::unreliable && maybe_slower);
}

std::size_t RunComparison::undecided() const {
    return static_cast<std::size_t>(std::ranges::count_if(benchmarks, is_undecided));
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
    set_differences(base, now, comparison);
    const SamplesByName before = samples_of(base);
    const SamplesByName after = samples_of(now);
    comparison.benchmarks =
        judge_all(before, after, settings.paired ? pairs_of(base, now) : std::map<std::string, Pairs>(), settings);
    for (ComparedBenchmark& compared : comparison.benchmarks) {
        compared.op = label_of(now, compared.name);
        compared.nodes = compare_nodes(base, now, compared.name, settings);
    }
    for (const auto& [name, sample] : before) {
        if (!after.contains(name)) {
            comparison.missing.push_back(name);
        }
    }
    for (const auto& [name, sample] : after) {
        if (!before.contains(name)) {
            comparison.added.push_back(name);
        }
    }
    std::stable_sort(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                     [](const ComparedBenchmark& a, const ComparedBenchmark& b) { return a.ratio > b.ratio; });
    return comparison;
}

}  // namespace dmlconform::bench
