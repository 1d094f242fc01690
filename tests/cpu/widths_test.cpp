// Tests of engine/cpu/element_wise/widths: those numbers of docs/operators.md that can be derived without measuring.
#include "engine/cpu/element_wise/widths.h"

#include <gtest/gtest.h>

#include <string_view>

namespace dmlconform::cpu::element_wise::widths_test {
namespace {

std::optional<Widths> widths(std::string_view op) {
    return widths_of(*operators::find_operator(op));
}

TEST(Widths, OneRoundingIsOneUnitInTheLastPlace) {
    for (const char* op : {"ELEMENT_WISE_ADD", "ELEMENT_WISE_MULTIPLY", "ACTIVATION_LEAKY_RELU", "DEQUANTIZE"}) {
        ASSERT_TRUE(widths(op)) << op;
        EXPECT_LE(widths(op)->median, 1) << op;
        EXPECT_EQ(widths(op)->largest, 1) << op;
    }
    EXPECT_EQ(widths("ELEMENT_WISE_ADD")->median, 1);
}

TEST(Widths, WhatIsNotRounded) {
    for (const char* op : {"ELEMENT_WISE_NEGATE", "ELEMENT_WISE_MAX", "ELEMENT_WISE_FLOOR", "ACTIVATION_RELU",
                           "ELEMENT_WISE_LOGICAL_EQUALS", "CAST"}) {
        ASSERT_TRUE(widths(op)) << op;
        EXPECT_EQ(widths(op)->largest, 0) << op;
    }
}

/// A relative error of 2^-21 is 4 to 8 ULPs on each side; rounding the argument adds to that.
TEST(Widths, Functions) {
    ASSERT_TRUE(widths("ELEMENT_WISE_EXP"));
    EXPECT_GE(widths("ELEMENT_WISE_EXP")->median, 8);
    EXPECT_LE(widths("ELEMENT_WISE_EXP")->median, 24);
    EXPECT_LE(widths("ELEMENT_WISE_EXP")->largest, 200);
    EXPECT_LE(widths("ELEMENT_WISE_SQRT")->largest, 2);
    EXPECT_LE(widths("ACTIVATION_SIGMOID")->median, 24);
    EXPECT_LE(widths("ADAM_OPTIMIZER")->median, 10);
}

TEST(Widths, OthersHaveNone) {
    for (const char* op : {"ELEMENT_WISE_BIT_AND", "SLICE1", "MEAN_VARIANCE_NORMALIZATION1", "GRU"}) {
        EXPECT_FALSE(widths(op)) << op;
    }
}

}  // namespace
}  // namespace dmlconform::cpu::element_wise::widths_test
