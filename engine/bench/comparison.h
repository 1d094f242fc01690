// Compares benchmark runs to find slowdowns.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/rank_test.h"

namespace dmlconform::bench {

struct ComparisonSettings {
    /// Slowdowns up to this share of the base's median are ignored.
    double threshold = 0.05;
    /// p-values below this are significant.
    double significance = 0.05;
    /// The first run of one side was made next to the first run of the other side, and so on, so that disturbances
    /// affect both runs of a pair and cancel in their ratio. Both sides must have the same number of runs, at least
    /// least_pairs.
    bool paired = false;
};

enum class Change : std::uint8_t {
    none,
    slower,      // a regression: beyond the threshold, and significant
    faster,      // the same the other way
    unreliable,  // beyond the threshold, but so are the differences between repetitions, or runs, of one side; or
                 // in no run of one side did it settle
    too_few,     // no difference, however large, could be significant with so few repetitions, or runs
};

/// For reports: "slower", …; "as before" if nothing changed.
[[nodiscard]] const char* to_string(Change change);

struct ComparedBenchmark {
    std::string name;
    Change change = Change::none;
    /// Medians, in seconds.
    double base = 0;
    double now = 0;
    /// The ratio of the medians, or the median of the pairs' ratios. 1.1 means 10 % slower.
    double ratio = 1;
    /// The 95 % confidence interval of the ratio: shifts of logarithms that the Mann-Whitney test does not reject, or
    /// the interval of the median of pairs. From 0 to infinity if there are too few runs.
    Interval interval{};
    /// Half of the interquartile range as a share of the median: of the side where it is larger, or of the ratios.
    double spread = 0;
    /// p-value of the two-sided Mann-Whitney U test, or of the sign test for pairs.
    double p = 1;
    /// How many repetitions, or runs, of each side count.
    std::size_t base_count = 0;
    std::size_t now_count = 0;
    /// Whether it did in a run of each side.
    bool settled = true;
    /// BenchmarkTimes::label.
    std::string op{};
    /// Of a graph, the nodes that both sides have: those that lost the most time first. Nodes alone regress nothing.
    std::vector<ComparedBenchmark> nodes{};
};

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
    /// Why the runs are not comparable: differences in their contexts. Empty if they are.
    std::vector<std::string> differences;

    [[nodiscard]] bool regressed() const;
    /// Benchmarks of which nobody can tell whether they became slower.
    [[nodiscard]] std::size_t undecided() const;
    [[nodiscard]] MeanRatio mean() const;
    /// Mean ratios by operator, for benchmarks whose files name it.
    [[nodiscard]] std::map<std::string, MeanRatio> mean_by_operator() const;
};

/// With this many files of a side, their medians are compared.
inline constexpr std::size_t least_runs = 4;

/// Fewer pairs cannot be significant at 0.05: five pairs of equal sign have a probability of 2 in 32.
inline constexpr std::size_t least_pairs = 6;

/// Compares two runs, or several runs of each side. If both sides have least_runs of a benchmark, each run counts with
/// its median, because repetitions of a run are not independent. Otherwise all repetitions count. Each side needs at
/// least one file. Pairs count if both runs have the benchmark.
[[nodiscard]] RunComparison compare_runs(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now,
                                         const ComparisonSettings& settings);

[[nodiscard]] inline RunComparison compare_runs(const BenchmarkFile& base, const BenchmarkFile& now,
                                                const ComparisonSettings& settings) {
    return compare_runs(std::span(&base, 1), std::span(&now, 1), settings);
}

}  // namespace dmlconform::bench
