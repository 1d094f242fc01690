// Whether something became slower from one run of benchmarks to another.
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
    /// A slowdown up to this share of the base's median is none.
    double threshold = 0.05;
    /// p-values below this are significant.
    double significance = 0.05;
    /// The first run of the one side was taken next to the first of the other, the second next to the second, and so
    /// on: what disturbs one disturbs its neighbour, and drops out of the ratio of the two. There are as many of each,
    /// at least least_pairs.
    bool paired = false;
};

enum class Change : std::uint8_t {
    none,
    slower,      // a regression: beyond the threshold, and significant
    faster,      // the same the other way
    unreliable,  // beyond the threshold, but so are the differences between repetitions, or runs, of one side; or
                 // in no run of one side did it settle
};

/// "slower", …; "as before" where nothing changed.
[[nodiscard]] const char* to_string(Change change);

struct ComparedBenchmark {
    std::string name;
    Change change = Change::none;
    /// Medians, in seconds.
    double base = 0;
    double now = 0;
    /// 1.1: 10 % slower. Of the medians; or the median of the pairs' ratios.
    double ratio = 1;
    /// Within which the ratio is with 95 % confidence: of the shifts of logarithms that the Mann-Whitney test does not
    /// reject, or of the median of pairs. From 0 to infinity where there are too few runs to say.
    Interval interval{};
    /// Half of the middle half's width, as a share of the median: of the side where it is larger; or of the ratios.
    double spread = 0;
    /// Of the Mann-Whitney U test, two-sided; of pairs, of the sign test.
    double p = 1;
    /// BenchmarkTimes::label.
    std::string op{};
};

/// The geometric mean of ratios.
struct MeanRatio {
    double ratio = 1;
    std::size_t benchmarks = 0;
};

struct RunComparison {
    /// By effect, the worst slowdown first.
    std::vector<ComparedBenchmark> benchmarks;
    /// Names that only one of the runs has.
    std::vector<std::string> missing;
    std::vector<std::string> added;
    /// Why the runs are not comparable: what differs in their contexts. Empty when they are.
    std::vector<std::string> differences;

    [[nodiscard]] bool regressed() const;
    [[nodiscard]] MeanRatio mean() const;
    /// By operator, of the benchmarks whose files name it.
    [[nodiscard]] std::map<std::string, MeanRatio> mean_by_operator() const;
};

/// So many files of a side are enough for their medians to be what is compared.
inline constexpr std::size_t least_runs = 4;

/// Fewer pairs cannot be significant at 0.05, whatever they are: each of five may have either sign, which is 2 in 32.
inline constexpr std::size_t least_pairs = 6;

/// Compares two runs, or several runs of each side. Where both sides have least_runs of a benchmark, each run counts
/// with its median: repetitions of one run share what disturbed it, and are not as many independent measurements as
/// they look. With fewer, all repetitions count. There is at least one file on each side. Of pairs, those count
/// of which both runs have the benchmark.
[[nodiscard]] RunComparison compare_runs(std::span<const BenchmarkFile> base, std::span<const BenchmarkFile> now,
                                         const ComparisonSettings& settings);

[[nodiscard]] inline RunComparison compare_runs(const BenchmarkFile& base, const BenchmarkFile& now,
                                                const ComparisonSettings& settings) {
    return compare_runs(std::span(&base, 1), std::span(&now, 1), settings);
}

}  // namespace dmlconform::bench
