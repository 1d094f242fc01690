// Tests which ranges count as wider than the noise of a graph's runs shows.
#include "engine/cpu/wide_slack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "engine/cpu/reference.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::wide_slack_test {
namespace {

using core::Tensor;

operators::Descriptor product_of(std::uint32_t depth) {
    return describe("GEMM", {{"ATensor", real({1, 1, 4, depth})},
                             {"BTensor", real({1, 1, depth, 4})},
                             {"OutputTensor", real({1, 1, 4, 4})},
                             {"TransA", 0},
                             {"TransB", 0},
                             {"Alpha", 1.0},
                             {"Beta", 0.0}});
}

Tensor normal_numbers(const core::TensorDesc& desc, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    Tensor tensor(desc);
    std::ranges::generate(tensor.as<float>(), [&] { return normal(random); });
    return tensor;
}

/// The roundings of a long sum may all add up, which is no reason to judge a graph in segments there.
TEST(WideSlack, LongSumsAreNotWide) {
    for (const std::uint32_t depth : {64U, 3000U, 20000U}) {
        const auto face = graph_of({{"product", product_of(depth), {"a", "b"}, {"t"}},
                                    unary("abs", "ELEMENT_WISE_ABS", real({1, 1, 4, 4}), "t", "y")},
                                   {"y"});
        const Tensor a = normal_numbers(real({1, 1, 4, depth}), 1);
        const Tensor b = normal_numbers(real({1, 1, depth, 4}), 2);
        const std::vector<const Tensor*> inputs = {&a, &b};
        EXPECT_TRUE(cpu::compute_reference(*face, inputs).undecided.empty()) << depth << " terms";
    }
}

TEST(WideSlack, TheWorstErrorGrowsWithTheNumberOfTerms) {
    EXPECT_EQ(cpu::worst_by_rounding(product_of(64)), 4096);
    EXPECT_NEAR(cpu::worst_by_rounding(product_of(20000)), 2.449 * 20032, 10);
}

struct Width {
    double sigma;
    double above;
    bool is_wide;
};

TEST(WideSlack, RangesAreWideBeyondTheWorstError) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    constexpr double far = 5000;
    for (const Width& width :
         {Width{1, far, false}, Width{1, far * 1.001, true}, Width{1, infinite, true}, Width{0, 1, false}}) {
        core::ElementSlack slack;
        slack.sigma = {1, width.sigma};
        slack.below = {1, 0};
        slack.above = {1, width.above};
        EXPECT_EQ(cpu::may_differ_widely(slack, far), width.is_wide) << width.above << " of " << width.sigma;
    }
}

}  // namespace
}  // namespace dmlconform::tests::wide_slack_test
