// Tests of engine/compare/power: recognises tolerances that would accept any output.
#include "engine/compare/power.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/tensor_values.h"

namespace dmlconform::tests::power_test {
namespace {

using core::DataType;
using core::ElementSlack;
using core::TensorDesc;
using core::Tolerance;

template <class T = float>
std::string lack(const std::vector<T>& expected, const Tolerance& tolerance, const ElementSlack* slack = nullptr,
                 DataType type = DataType::float32) {
    const TensorDesc desc = TensorDesc::packed(type, {static_cast<std::uint32_t>(expected.size())});
    return compare::lack_of_power(tensor_of(desc, expected), tolerance, slack);
}

Tolerance within(double abs) {
    Tolerance tolerance;
    tolerance.abs = abs;
    return tolerance;
}

TEST(Power, FindsWhatATolerancesAccepts) {
    EXPECT_EQ(lack({1, 2, 3}, within(0.1)), "");
    EXPECT_EQ(lack({1, 2, 3}, within(1e9)), "the tolerance also accepts an output that was never written");
    EXPECT_EQ(lack({1, -2, 3}, within(3)), "the tolerance also accepts zeros");
    EXPECT_EQ(lack({5, 6, 7}, within(1)), "the tolerance also accepts 6 for all elements");
    EXPECT_EQ(lack({1, 9, 1.5}, within(0.5)), "the tolerance also accepts the expected values in reverse");
    EXPECT_EQ(lack({0, 0, 0}, within(2)), "zeros are expected, and the tolerance also accepts ones");
}

TEST(Power, OneElementOutsideOfEachIsEnough) {
    EXPECT_EQ(lack({1, 1.5, 1, 100}, within(3)), "");
    EXPECT_EQ(lack({0, 0, 0}, within(0.5)), "");
}

TEST(Power, EqualExpectedValuesAreRight) {
    EXPECT_EQ(lack({5, 5, 5}, within(0.5)), "") << "one constant is right";
    EXPECT_EQ(lack({1, 1.0000001f, 1}, within(0.5)), "") << "equal but for a rounding";
    EXPECT_EQ(lack({7}, within(1)), "");
    EXPECT_EQ(lack({1, 9, 1}, within(0.5)), "") << "the same in reverse";
    Tolerance exact;
    exact.exact = true;
    EXPECT_EQ(lack({0, 0}, exact), "");
}

TEST(Power, EveryKindOfToleranceCounts) {
    Tolerance ulp;
    ulp.ulp = 1;
    EXPECT_EQ(lack<std::uint8_t>({0, 1, 1}, ulp, nullptr, DataType::uint8), "the tolerance also accepts zeros");
    EXPECT_EQ(lack<std::uint64_t>({UINT64_MAX, UINT64_MAX - 2}, ulp, nullptr, DataType::uint64), "");
    Tolerance rel;
    rel.rel = 0.5;
    EXPECT_EQ(lack({2, 3, 2}, rel), "the tolerance also accepts 2.25 for all elements");
    Tolerance slack_only;
    slack_only.element_slack = true;
    ElementSlack slack;
    slack.below = {3, 3, 0.5};
    slack.above = {3, 3, 0.5};
    EXPECT_EQ(lack({1, 2, 3}, slack_only, &slack), "the tolerance also accepts 3 for all elements");
    slack.below = {9, 9, 9};
    EXPECT_EQ(lack({1, 2, 3}, slack_only, &slack), "the tolerance also accepts zeros");
    const double infinity = std::numeric_limits<double>::infinity();
    slack.below = slack.above = {infinity, infinity, infinity};
    EXPECT_NE(lack({1, 2, 3}, slack_only, &slack), "");
}

TEST(Power, NaNAndInfinityRejectEverythingElse) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(lack({nan, 1, 1}, within(3)), "");
    EXPECT_EQ(lack({infinity, 1, 1}, within(3)), "");
}

TEST(Power, OnlyMeaningfulElementsCount) {
    Tolerance tolerance = within(0.1);
    tolerance.meaningful_part = true;
    ElementSlack slack;
    slack.meaningful = 2;
    EXPECT_EQ(lack({0, 0, 1000}, tolerance, &slack), "") << "zeros are right there";
    slack.meaningful = 0;
    EXPECT_EQ(lack({1, 2, 3}, tolerance, &slack), "") << "nothing is compared";
}

}  // namespace
}  // namespace dmlconform::tests::power_test
