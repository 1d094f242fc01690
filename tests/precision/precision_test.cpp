// A small sample of what `precision_table` proves: see docs/precision.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/precision/proof.h"

namespace dmlconform::precision::precision_test {
namespace {

std::string test_name(const testing::TestParamInfo<Subject>& info) {
    std::string name(info.param.name);
    std::ranges::replace_if(
        name, [](char c) { return c == ' ' || c == ','; }, '_');
    return name;
}

std::string text_of(const Way& way) {
    return std::string(name_of(way.format)) + ", " + way.order.name() + ", layer " + std::to_string(way.layer);
}

class Precision : public testing::TestWithParam<Subject> {};

/// Q causes no alarm, and sigma is correct within a factor of ten.
TEST_P(Precision, TrustsHonestArithmetic) {
    for (const HonestRow& row : honest_rows(GetParam(), 40)) {
        EXPECT_GE(row.tally.tensors, 10u) << text_of(row.way);
        EXPECT_EQ(row.tally.alarms, 0u) << text_of(row.way) << ": Q up to " << row.tally.greatest_q;
    }
}

TEST_P(Precision, HasSigmaThatFitsSequentialSums) {
    Draw draw(3);
    for (const std::size_t terms : {16u, 256u, 1024u}) {
        const Trial trial = GetParam().make(draw, {.elements = 1024, .terms = std::min(terms, GetParam().most_terms)});
        const auto verdicts = judge(trial, reference_of(trial), GetParam().compute(trial, {Format::fp32}));
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            ASSERT_TRUE(verdicts[i].has_sigma) << "output " << i;
            if (verdicts[i].can_tell()) {
                EXPECT_GE(verdicts[i].statistic.q(), 0.05) << "output " << i << ", terms " << terms;
                EXPECT_LE(verdicts[i].statistic.q(), 2) << "output " << i << ", terms " << terms;
            }
        }
        EXPECT_TRUE(verdicts[0].can_tell());
    }
}

TEST_P(Precision, FindsReducedPrecision) {
    for (const ReducedRow& row : reduced_rows(GetParam(), 3, 256)) {
        if (row.can_be_told) {
            EXPECT_TRUE(row.is_found()) << text_of(row.way) << (row.half ? ", FLOAT16" : "") << ", " << row.terms
                                        << " terms: Q from " << row.tally.least_q << " to " << row.tally.greatest_q;
        }
    }
}

/// Nobody who rounds every operation of a sum towards zero comes near the limit: the proof has the shares.
TEST_P(Precision, TrustsRoundingTowardsZero) {
    constexpr double largest_share = 0.9;
    for (const std::size_t terms : {16u, 100u, 700u}) {
        for (const TruncatingRow& row : truncating_rows(GetParam(), 1, std::min(terms, GetParam().most_terms))) {
            EXPECT_LE(row.greatest_share, largest_share)
                << text_of(row.way) << ", " << terms << " terms: Q up to " << row.greatest_q;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Precision, testing::ValuesIn(subjects()), test_name);

}  // namespace
}  // namespace dmlconform::precision::precision_test
