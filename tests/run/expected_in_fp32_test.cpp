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

/// The quotient is 67.4999987, which is 67.5 in FP32. So the reference computes 67, and an implementation in FP32 68.
std::string quantised(std::string_view expected, std::string_view more) {
    return R"({ "cases": [ { "name": "quantised", "operator": "ELEMENT_WISE_QUANTIZE_LINEAR", "desc": {
      "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] },
      "ScaleTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] },
      "ZeroPointTensor": { "DataType": "INT8", "Sizes": [1,1,1,2] },
      "OutputTensor": { "DataType": "INT8", "Sizes": [1,1,1,2] } },
      "inputs": { "InputTensor": [4.552415370941162, -3], "ScaleTensor": [0.06744319200515747, 1],
                  "ZeroPointTensor": [0, 0] },
      "expected": { "OutputTensor": [)" +
           std::string(expected) + ", -3] }" + std::string(more) + " } ] }";
}

run::Status status_of(std::int8_t computed, const std::string& expected, std::string_view more) {
    const auto suite = cases::read_case_file("file.json", quantised(expected, more));
    EXPECT_TRUE(suite.problems.empty()) << cases::to_string(suite.problems.front());
    Behaviour behaviour;
    behaviour.change = [computed](std::span<core::Tensor* const> outputs) {
        EXPECT_EQ(outputs[0]->as<std::int8_t>()[0], 67);
        outputs[0]->as<std::int8_t>()[0] = computed;
    };
    FakeEngine engine(behaviour);
    return run::run_case(suite.cases.front(), engine).status;
}

TEST(ExpectedInFp32, BothSidesOfATieAreAcceptedAndNothingElse) {
    for (const char* const expected : {"67", "68"}) {
        EXPECT_EQ(status_of(66, expected, in_fp32), run::Status::fail) << expected;
        EXPECT_EQ(status_of(67, expected, in_fp32), run::Status::pass) << expected;
        EXPECT_EQ(status_of(68, expected, in_fp32), run::Status::pass) << expected;
        EXPECT_EQ(status_of(69, expected, in_fp32), run::Status::fail) << expected;
    }
    EXPECT_EQ(status_of(67, "68", ""), run::Status::fail) << "the expected values are said to be exact";
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
