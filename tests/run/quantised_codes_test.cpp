// Tests of engine/run/quantised_codes: codes, scale and zero point of DYNAMIC_QUANTIZE_LINEAR belong together.
#include "engine/run/quantised_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "engine/run/case_run.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::quantised_codes_test {
namespace {

/// The scale is 1. With a least number of -127.5 the zero point is 127.5, a tie: 127 and 128 are right in FP32, as the
/// scale may be off. Other numbers are far from ties.
constexpr std::string_view at_a_tie = R"({ "name": "tie", "operator": "DYNAMIC_QUANTIZE_LINEAR",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,6] },
              "OutputTensor": { "DataType": "UINT8", "Sizes": [1,6] },
              "OutputScaleTensor": { "DataType": "FLOAT32", "Sizes": [1,1] },
              "OutputZeroPointTensor": { "DataType": "UINT8", "Sizes": [1,1] } },
    "inputs": { "InputTensor": [-127.5, 127.5, 1.1, 2.2, -3.3, 100.1] } })";

using Bytes = std::span<std::uint8_t>;

/// Judges an engine that changes its right codes and its right zero point.
run::CaseResult judged(const std::function<void(Bytes codes, std::uint8_t& zero_point)>& change,
                       std::string_view subject = at_a_tie) {
    const auto cases = cases_of({std::string(subject)});
    Behaviour behaviour;
    behaviour.change = [&](std::span<core::Tensor* const> outputs) {
        change(outputs[0]->as<std::uint8_t>(), outputs[2]->as<std::uint8_t>()[0]);
    };
    FakeEngine engine(std::move(behaviour));
    return run::run_case(cases[0], engine, {});
}

constexpr const char* does_not_follow =
    "the output differs beyond tolerance; OutputTensor does not follow from the OutputScaleTensor and the "
    "OutputZeroPointTensor that the engine returned";

/// The first two codes are the lowest and the highest one with either zero point.
void add_to_codes(Bytes codes, int difference) {
    for (std::uint8_t& code : codes.subspan(2, 4)) {
        code = static_cast<std::uint8_t>(code + difference);
    }
}

TEST(QuantisedCodes, BothZeroPointsAreRight) {
    int other = 0;
    EXPECT_EQ(judged([](Bytes, std::uint8_t&) {}).status, run::Status::pass);
    const run::CaseResult both = judged([&](Bytes codes, std::uint8_t& zero_point) {
        other = zero_point == 128 ? -1 : 1;
        add_to_codes(codes, other);
        zero_point = static_cast<std::uint8_t>(zero_point + other);
    });
    EXPECT_EQ(both.status, run::Status::pass) << both.reason << " " << both.difference;
    EXPECT_NE(other, 0);
}

TEST(QuantisedCodes, CodesBelongToTheZeroPoint) {
    const run::CaseResult codes =
        judged([](Bytes codes, std::uint8_t& zero_point) { add_to_codes(codes, zero_point == 128 ? -1 : 1); });
    EXPECT_EQ(codes.status, run::Status::fail);
    EXPECT_EQ(codes.reason, does_not_follow);
    EXPECT_THAT(codes.difference, testing::HasSubstr("4 of 6"));
    const run::CaseResult zero_points =
        judged([](Bytes, std::uint8_t& zero_point) { zero_point = zero_point == 128 ? 127 : 128; });
    EXPECT_EQ(zero_points.status, run::Status::fail);
    EXPECT_EQ(zero_points.reason, does_not_follow);
}

TEST(QuantisedCodes, ASingleCodeBelongsToTheZeroPoint) {
    const run::CaseResult one = judged([](Bytes codes, std::uint8_t& zero_point) {
        codes[5] = static_cast<std::uint8_t>(codes[5] + (zero_point == 128 ? -1 : 1));
    });
    EXPECT_EQ(one.status, run::Status::fail);
    EXPECT_THAT(one.difference, testing::HasSubstr("[0,5]"));
}

TEST(QuantisedCodes, ExpectedValuesMakeNoDifference) {
    std::string stated(at_a_tie);
    stated.insert(stated.rfind('}'), R"(, "expected": { "OutputTensor": [0, 255, 129, 130, 125, 228],
        "OutputScaleTensor": [1], "OutputZeroPointTensor": [128] })");
    EXPECT_EQ(judged([](Bytes, std::uint8_t&) {}, stated).status, run::Status::pass);
    const run::CaseResult one = judged(
        [](Bytes codes, std::uint8_t& zero_point) {
            codes[5] = static_cast<std::uint8_t>(codes[5] + (zero_point == 128 ? -1 : 1));
        },
        stated);
    EXPECT_EQ(one.status, run::Status::fail);
}

}  // namespace
}  // namespace dmlconform::tests::quantised_codes_test
