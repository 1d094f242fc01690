// Compares benchmark runs to find slowdowns. The unit of evidence is the process: repetitions of one process share its
// memory layout and whatever disturbed it, so they are not independent of each other.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/rank_test.h"

namespace dmlconform::bench {

/// How much results of one benchmark differ from each other although nothing has changed, as earlier results show.
struct LearnedScatter {
    /// The standard deviation of the logarithm of a result's median.
    double deviation = 0;
    /// How many differences it was estimated from.
    std::size_t freedom = 0;
};

struct ComparisonSettings {
    /// Slowdowns up to this share of the base's median are ignored.
    double threshold = 0.05;
    /// The probability that any of the benchmarks is called slower or faster if nothing has changed.
    double significance = 0.001;
    /// The first run of one side was made next to the first run of the other side, and so on, so that disturbances
    /// affect both runs of a pair and cancel in their ratio, or affect each side as often. Both sides must have the
    /// same number of runs, at least least_pairs.
    bool paired = false;
    /// By benchmark; what a history knows. Empty without one.
    std::map<std::string, LearnedScatter> learned{};
};

enum class Change : std::uint8_t {
    none,
    slower,      // a regression: beyond the threshold, and significant
    faster,      // the same the other way
    unreliable,  // beyond the threshold, but that may have another cause: see Doubt
    too_few,     // no difference, however large, could be significant with so few processes
};

/// For reports: "slower", …; "as before" if nothing changed.
[[nodiscard]] const char* to_string(Change change);

/// Why it cannot be told whether a benchmark changed.
enum class Doubt : std::uint8_t {
    none,
    too_few,          // processes, or pairs
    unsettled,        // in no process of one side did the repetitions settle
    not_significant,  // processes of one side differ from each other as much as the two sides do
    near_threshold,   // it changed, but perhaps by less than the threshold
    conditions,       // the machine itself was slower, or busier, for one of them
    busy,             // processes of one side waited for processors most of all: see most_usual_wait
};

struct ComparedBenchmark {
    std::string name;
    Change change = Change::none;
    /// Medians of the processes' times (time_of_process), in seconds.
    double base = 0;
    double now = 0;
    /// The ratio of the medians, or the median of the pairs' ratios. 1.1 means 10 % slower.
    double ratio = 1;
    /// The 95 % confidence interval of the ratio: shifts of logarithms that the Mann-Whitney test does not reject, or
    /// the interval of the median of pairs. From 0 to infinity if there are too few processes.
    Interval interval{};
    /// Half of the interquartile range as a share of the median: of the side where it is larger, or of the ratios.
    double spread = 0;
    /// The two-sided p-value, corrected for the number of benchmarks.
    double p = 1;
    /// How many processes, or pairs, of each side count.
    std::size_t base_count = 0;
    std::size_t now_count = 0;
    /// How many more processes of each side there are, which do not count because they did not settle.
    std::size_t base_left_out = 0;
    std::size_t now_left_out = 0;
    Doubt doubt = Doubt::none;
    /// By what factor the conditions differed while the processes ran: see difference_of_conditions for times by the
    /// processor's clock, and range_of_conditions for others. 1 if it is not known.
    double conditions = 1;
    /// What share of the time the processes of one side usually waited for processors: the larger one of both.
    double waited = 0;
    /// BenchmarkTimes::label.
    std::string op{};
    /// For a graph, the nodes that both sides have: those that lost the most time first. A slower node alone is no
    /// regression.
    std::vector<ComparedBenchmark> nodes{};
};

/// True if nobody can tell whether the benchmark became slower.
[[nodiscard]] bool is_undecided(const ComparedBenchmark& compared);

/// The geometric mean of ratios.
struct MeanRatio {
    double ratio = 1;
    std::size_t benchmarks = 0;
};

struct RunComparison {
    /// Sorted by effect, the worst slowdown first.
    std::vector<ComparedBenchmark> benchmarks;
    /// Benchmarks that only one side has.
    std::vector<std::string> missing;
    std::vector<std::string> added;
    /// Why the runs are not comparable: differences between any two of the files. Empty if they are.
    std::vector<std::string> differences;
    /// True if some benchmarks are in the files by different clocks only, so that nothing can compare them.
    bool by_other_clocks = false;

    [[nodiscard]] bool regressed() const;
    /// Benchmarks of which nobody can tell whether they became slower.
    [[nodiscard]] std::size_t undecided() const;
    [[nodiscard]] std::size_t count(Change change) const;
    [[nodiscard]] MeanRatio mean() const;
    /// Mean ratios by operator, for benchmarks whose files name it.
    [[nodiscard]] std::map<std::string, MeanRatio> mean_by_operator() const;
};

/// How many processes of each side are needed so that a difference in one of this many benchmarks can be significant.
[[nodiscard]] std::size_t processes_needed(std::size_t benchmarks, double significance);
/// The same for pairs.
[[nodiscard]] std::size_t pairs_needed(std::size_t benchmarks, double significance);

/// Fewer pairs are an error.
inline constexpr std::size_t least_pairs = 6;

/// Compares two runs, or several runs of each side. Each process of a run counts with the median of its repetitions;
/// a run of one process counts as one. Each side needs at least one file. Pairs count if both runs have the benchmark.
[[nodiscard]] RunComparison compare_runs(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now,
                                         const ComparisonSettings& settings);

[[nodiscard]] inline RunComparison compare_runs(const BenchmarkFile& base, const BenchmarkFile& now,
                                                const ComparisonSettings& settings) {
    return compare_runs(std::span(&base, 1), std::span(&now, 1), settings);
}

}  // namespace dmlconform::bench
