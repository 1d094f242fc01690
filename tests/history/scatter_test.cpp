// Tests of engine/history/scatter: what a history tells about differences that are no changes.
#include "engine/history/scatter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace dmlconform::history::scatter_test {
namespace {

Series series_of(const std::vector<double>& medians) {
    Series series{"cpu/a", "M", "cpu", "A", {}};
    for (const double median : medians) {
        series.points.emplace_back().median = median;
    }
    return series;
}

bench::BenchmarkFile file_on(const char* machine, const char* adapter) {
    bench::BenchmarkFile file;
    file.context = {{"dmlconform.machine", machine}, {"dmlconform.cpu.adapter", adapter}};
    return file;
}

TEST(LearnedScatter, IsThatOfResultsWithoutTheChanges) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(0, 0.02);
    std::vector<double> medians;
    for (int i = 0; i < 400; ++i) {
        medians.push_back(std::exp(noise(random)) * (i < 200 ? 1 : 1.5));
    }
    const auto learned = learned_scatter(std::vector<Series>{series_of(medians)}, file_on("M", "A"));
    ASSERT_TRUE(learned.contains("cpu/a"));
    // The standard error of the estimate is about 5 % here.
    EXPECT_NEAR(learned.at("cpu/a").deviation, 0.02, 0.003);
    EXPECT_EQ(learned.at("cpu/a").freedom, 398u * 2 / 3) << "399 differences, one of which is a change";
}

TEST(LearnedScatter, IsOfTheSameMachineAndAdapter) {
    const std::vector<Series> all{series_of(std::vector<double>(20, 1.0))};
    EXPECT_EQ(learned_scatter(all, file_on("M", "A")).size(), 1u);
    EXPECT_TRUE(learned_scatter(all, file_on("N", "A")).empty());
    EXPECT_TRUE(learned_scatter(all, file_on("M", "B")).empty());
    EXPECT_EQ(learned_scatter(all, file_on("M", "A")).at("cpu/a").freedom, 12u) << "two thirds of 19 differences";
}

TEST(LearnedScatter, IsThatOfTheSameDescriptor) {
    std::vector<Series> all{series_of({1, 2, 1, 2, 1}), series_of({1, 1, 1, 1})};
    all[0].label = "GEMM a";
    all[1].label = "GEMM b";
    all[0].one_of_several = all[1].one_of_several = true;
    bench::BenchmarkFile file = file_on("M", "A");
    file.benchmarks["cpu/a"].label = "GEMM";
    for (const auto& [descriptor, freedom] : {std::pair("a", 2u), std::pair("b", 2u)}) {
        file.benchmarks["cpu/a"].descriptor = descriptor;
        const auto learned = learned_scatter(all, file);
        EXPECT_EQ(learned.at("cpu/a").deviation > 0.1, descriptor == std::string("a"));
        EXPECT_EQ(learned.at("cpu/a").freedom, freedom);
    }
}

}  // namespace
}  // namespace dmlconform::history::scatter_test
