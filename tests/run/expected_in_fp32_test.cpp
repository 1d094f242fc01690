// Tests of expected values that another implementation computed in FP32.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/run/case_run.h"
#include "tests/run/fake_engine.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::expected_in_fp32_test {
namespace {

/// Numbers that cancel: the exact sum is 2^-12, and terms are around 1. An implementation may be off by some 2^-22.
std::string text(std::string_view expected, std::string_view more) {
    return R"({ "cases": [ { "name": "sum", "operator": "GEMM", "desc": {
      "ATensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,4] },
      "BTensor": { "DataType": "FLOAT32", "Sizes": [1,1,4,1] },
      "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,1] }, "TransA": 0, "TransB": 0, "Alpha": 1, "Beta": 0 },
      "inputs": { "ATensor": [1.1, 1.3, -1.1, -1.3], "BTensor": [1.7, 1.9, 1.7, 1.9001] },
      "expected": { "OutputTensor": [)" +
           std::string(expected) + R"(] }, "tolerance": { "*": { "rel": 1e-3, "abs": 1e-7 } })" + std::string(more) +
           " } ] }";
}

constexpr std::string_view in_fp32 = R"(, "expectedPrecision": "fp32")";

/// The reference's result, compared with an expected value.
run::CaseResult judged(const std::string& expected, std::string_view more) {
    const auto suite = cases::read_case_file("file.json", text(expected, more));
    EXPECT_TRUE(suite.problems.empty()) << cases::to_string(suite.problems.front());
    FakeEngine engine{Behaviour{}};
    return run::run_case(suite.cases.front(), engine);
}

TEST(ExpectedInFp32, WhatTwoImplementationsMayDifferByIsAccepted) {
    // The exact value is about -0.00013, and an FP32 sum of these terms may be off by 4e-7.
    EXPECT_EQ(judged("-0.0001303", in_fp32).status, run::Status::pass);
    EXPECT_EQ(judged("-0.0001303", "").status, run::Status::fail);
}

TEST(ExpectedInFp32, WhatIsFurtherOffIsNot) {
    const run::CaseResult result = judged("-0.00014", in_fp32);
    EXPECT_EQ(result.status, run::Status::fail);
    EXPECT_TRUE(result.outputs.front().tolerance.element_slack) << "the report shows what would be accepted";
}

TEST(ExpectedInFp32, IsWritten) {
    const auto suite = cases::read_case_file("file.json", text("-0.0001303", in_fp32));
    ASSERT_TRUE(suite.problems.empty());
    EXPECT_TRUE(suite.cases.front().expected_in_fp32);
    const auto written = cases::case_to_json(suite.cases.front());
    ASSERT_TRUE(written);
    EXPECT_EQ((*written)["expectedPrecision"], "fp32");
}

TEST(ExpectedInFp32, NoOtherPrecisionIsKnown) {
    const auto suite = cases::read_case_file("file.json", text("0", R"(, "expectedPrecision": "bf16")"));
    ASSERT_EQ(suite.problems.size(), 1U);
    EXPECT_EQ(suite.problems.front().message, "\"expectedPrecision\" can only be \"fp32\"");
}

}  // namespace
}  // namespace dmlconform::tests::expected_in_fp32_test
