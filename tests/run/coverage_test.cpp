// Tests of engine/run/coverage: what a case covers, what is missing, and reasons for missing lines.
#include "engine/run/coverage.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::coverage_test {
namespace {

using run::coverage;
using run::coverage_key;
using run::CoverageLine;
using run::parse_coverage_reasons;

/// The number of cases that cover the line with this key. Throws if there is no such line.
std::size_t count(const std::vector<CoverageLine>& lines, std::string_view key) {
    for (const CoverageLine& line : lines) {
        if (coverage_key(line) == key) {
            return line.cases;
        }
    }
    throw std::logic_error("there is no line " + std::string(key));
}

TEST(Coverage, EveryOperatorWithRulesIsListedAndNoLineTwice) {
    const auto lines = coverage({});
    std::set<std::string> keys;
    std::set<std::string> operators;
    for (const CoverageLine& line : lines) {
        EXPECT_EQ(line.cases, 0u);
        EXPECT_TRUE(keys.insert(coverage_key(line)).second) << coverage_key(line);
        operators.insert(line.op);
    }
    std::set<std::string> with_rules;
    for (const std::string& name : operators::operator_names()) {
        const auto* schema = operators::find_operator(name);
        if (cpu::has_reference(*schema)) {
            with_rules.insert(std::string(schema->short_name()));
        }
    }
    EXPECT_EQ(operators, with_rules);
    EXPECT_GE(operators.size(), 4u);
}

TEST(Coverage, WhatAcceptedCasesCover) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, normalization,
                                 R"({ "name": "strided", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "INT64", "Sizes": [2, 2], "Strides": [0, 1], "TotalTensorSizeInBytes": 64, "GuaranteedBaseOffsetAlignment": 16 },
                  "OutputTensor": { "DataType": "INT64", "Sizes": [1, 1], "Strides": [2, 7] },
                  "InputWindowOffsets": [1, 0], "InputWindowSizes": [1, 2], "InputWindowStrides": [-1, -3] },
        "inputs": { "InputTensor": [1, 2, 1, 2] } })",
                                 R"({ "name": "illegal", "operator": "SLICE1", "expectError": "E_INVALIDARG",
        "desc": { "InputTensor": { "DataType": "FLOAT16", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT16", "Sizes": [2] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [0] } })"});
    const auto lines = coverage(cases);
    const std::pair<const char*, std::size_t> counts[] = {
        {"SLICE1 type InputTensor FLOAT32", 2},
        {"SLICE1 type InputTensor INT64", 1},
        {"SLICE1 type InputTensor FLOAT16", 0},  // a rejected case covers only the rule
        {"SLICE1 rank InputTensor 1", 2},
        {"SLICE1 rank OutputTensor 2", 1},
        {"SLICE1 rank InputTensor 8", 0},
        {"SLICE1 layout InputTensor packed", 2},
        {"SLICE1 layout InputTensor strided", 1},
        {"SLICE1 layout InputTensor stride 0", 1},
        {"SLICE1 layout InputTensor larger total size", 1},
        {"SLICE1 layout InputTensor aligned", 1},
        {"SLICE1 layout InputTensor OWNED_BY_DML", 0},
        {"SLICE1 layout OutputTensor packed", 3},  // the stride of a dimension of size 1 is never used
        {"SLICE1 attribute InputWindowOffsets 0", 3},
        {"SLICE1 attribute InputWindowOffsets 1", 1},
        {"SLICE1 attribute InputWindowOffsets >1", 0},
        {"SLICE1 attribute InputWindowSizes >1", 3},
        {"SLICE1 attribute InputWindowStrides 1", 0},
        {"SLICE1 attribute InputWindowStrides >1", 2},
        {"SLICE1 attribute InputWindowStrides -1", 1},
        {"SLICE1 attribute InputWindowStrides <-1", 1},
        {"SLICE1 level 2.1", 0},
        {"SLICE1 level 3.0", 2},
        {"SLICE1 level 4.1", 1},
        {"SLICE1 rule SLICE1.windowStride", 1},
        {"MEAN_VARIANCE_NORMALIZATION1 type InputTensor FLOAT32", 1},
        {"MEAN_VARIANCE_NORMALIZATION1 attribute ScaleTensor null", 1},
        {"MEAN_VARIANCE_NORMALIZATION1 attribute ScaleTensor present", 0},
        {"MEAN_VARIANCE_NORMALIZATION1 attribute NormalizeVariance TRUE", 1},
        {"MEAN_VARIANCE_NORMALIZATION1 attribute NormalizeVariance FALSE", 0},
        {"MEAN_VARIANCE_NORMALIZATION1 attribute Epsilon >0", 1},
        {"MEAN_VARIANCE_NORMALIZATION1 attribute FusedActivation null", 1},
        {"MEAN_VARIANCE_NORMALIZATION1 attribute FusedActivation DML_OPERATOR_ACTIVATION_RELU", 0},
        {"TOP_K1 type InputTensor FLOAT32", 0},
    };
    for (const auto& [key, cases_covering] : counts) {
        EXPECT_EQ(count(lines, key), cases_covering) << key;
    }
}

TEST(Coverage, AnOperatorsOwnReasonCountsBeforeThatOfAll) {
    const auto reasons = parse_coverage_reasons("* rank InputTensor 5: of all\nSLICE1 rank InputTensor 5: its own");
    ASSERT_TRUE(reasons.has_value());
    const auto reason_for = [&](const char* op) {
        const auto found = run::find_reason(*reasons, {op, "rank", "InputTensor 5", 0});
        return found == reasons->end() ? std::string() : found->second;
    };
    EXPECT_EQ(reason_for("SLICE1"), "its own");
    EXPECT_EQ(reason_for("TOP_K1"), "of all");
}

TEST(Coverage, Reasons) {
    const auto reasons =
        parse_coverage_reasons("# a comment\n\nSLICE1 level 2.1: nobody asks: really\nTOP_K1 rule x: y");
    ASSERT_TRUE(reasons.has_value());
    EXPECT_EQ(*reasons, (run::CoverageReasons{{"SLICE1 level 2.1", "nobody asks: really"}, {"TOP_K1 rule x", "y"}}));
    EXPECT_TRUE(parse_coverage_reasons("")->empty());
    for (const char* text : {"SLICE1 level 2.1", "SLICE1 level 2.1:", "# fine\nnot fine\n"}) {
        const auto bad = parse_coverage_reasons(text);
        ASSERT_FALSE(bad.has_value()) << text;
        EXPECT_NE(bad.error().message.find(text[0] == '#' ? "line 2" : "line 1"), std::string::npos);
    }
}

}  // namespace
}  // namespace dmlconform::tests::coverage_test
