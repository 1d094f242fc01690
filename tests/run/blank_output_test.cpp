// Tests of outputs that were not written, or are all zero: they fail with any tolerance.
#include "engine/run/blank_output.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/core/element.h"
#include "engine/core/guard.h"
#include "engine/run/failure_kind.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::blank_output_test {
namespace {

/// A case whose tolerance accepts any value.
std::string lenient_case(std::string_view expected) {
    return fmt::format(R"({{ "name": "lenient", "operator": "SLICE1",
        "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }},
                  "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [2], "Strides": [2] }},
                  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] }},
        "inputs": {{ "InputTensor": [1, 2, 3, 4] }}, "expected": {{ "OutputTensor": {} }},
        "tolerance": {{ "*": {{ "abs": 1e30 }} }} }})",
                       expected);
}

run::CaseResult run_on(Behaviour behaviour, std::string_view text) {
    const auto cases = cases_of({text});
    FakeEngine engine(std::move(behaviour));
    run::CaseResult result = run::run_case(cases[0], engine);
    result.subject = nullptr;
    return result;
}

Behaviour zeroing() {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        auto bytes = outputs[0]->buffer.bytes().first(outputs[0]->desc.total_bytes);
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
    };
    return behaviour;
}

Behaviour silent() {
    Behaviour behaviour;
    behaviour.writes_nothing = true;
    return behaviour;
}

TEST(BlankOutput, IsNoPassWhateverTheTolerance) {
    const run::CaseResult zero = run_on(zeroing(), lenient_case("[1, 3]"));
    EXPECT_EQ(zero.status, run::Status::fail);
    EXPECT_EQ(zero.reason, "OutputTensor: it is all zero, and should not be, though the tolerance accepts that");
    const run::CaseResult untouched = run_on(silent(), lenient_case("[1, 3]"));
    EXPECT_EQ(untouched.status, run::Status::fail);
    EXPECT_EQ(untouched.reason, "OutputTensor: the engine wrote nothing to it, though the tolerance accepts that");
    EXPECT_EQ(run_on({}, lenient_case("[1, 3]")).status, run::Status::pass);
}

TEST(BlankOutput, IsOneOfNothingButWhatMeansNothing) {
    constexpr std::string_view nonzero = R"({{ "name": "nonzero", "operator": "NONZERO_COORDINATES",
        "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [2] }},
                  "OutputCountTensor": {{ "DataType": "UINT32", "Sizes": [1] }},
                  "OutputCoordinatesTensor": {{ "DataType": "UINT32", "Sizes": [2, 1] }} }},
        "inputs": {{ "InputTensor": [0, {}] }} }})";
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        std::ranges::fill(outputs[1]->buffer.bytes(), core::untouched);
    };
    EXPECT_EQ(run_on(behaviour, fmt::format(nonzero, 0)).status, run::Status::pass);
    EXPECT_EQ(run_on(behaviour, fmt::format(nonzero, 1)).status, run::Status::fail);
}

TEST(BlankOutput, SaysSoBesideTheDifference) {
    EXPECT_EQ(run_on(zeroing(), slice_with_expected).reason,
              "the output differs beyond tolerance; OutputTensor: it is all zero, and should not be");
    EXPECT_EQ(run_on(silent(), slice_with_expected).reason,
              "the output differs beyond tolerance; OutputTensor: the engine wrote nothing to it");
}

TEST(BlankOutput, APartThatWasNotWrittenIsSaid) {
    Behaviour half;
    half.change = [](std::span<core::Tensor* const> outputs) {
        std::ranges::fill(outputs[0]->buffer.bytes().subspan(4, 4), core::untouched);
    };
    const run::CaseResult result = run_on(half, slice_with_expected);
    EXPECT_TRUE(result.unwritten);
    EXPECT_EQ(result.reason,
              "the output differs beyond tolerance; OutputTensor: the engine left 1 of its 2 elements unwritten");
    EXPECT_FALSE(run_on(zeroing(), slice_with_expected).unwritten) << "zero is a value";
    EXPECT_FALSE(run_on({}, slice_with_expected).unwritten);
}

/// Elements with the bits of untouched memory are expected here, and both tensors have gaps.
TEST(BlankOutput, APartOfAStridedOutputIsComparedWithItsOwnElements) {
    core::TensorDesc desc = core::TensorDesc::packed(core::DataType::int8, {6});
    desc.strides = {2};
    desc.total_bytes = 12;
    core::Tensor expected(desc);
    core::Tensor actual(desc);
    for (core::Tensor* const tensor : {&expected, &actual}) {
        std::ranges::fill(tensor->buffer.bytes(), std::byte{5});
        for (std::size_t i = 2; i < 6; ++i) {
            tensor->buffer.bytes()[2 * i] = core::untouched;
        }
    }
    EXPECT_EQ(run::unwritten_part(actual, &expected), std::nullopt);
    expected.buffer.bytes()[2 * 5] = std::byte{5};
    EXPECT_EQ(run::unwritten_part(actual, &expected), std::nullopt) << "one byte may be there by chance";
    std::ranges::fill(expected.buffer.bytes(), std::byte{5});
    EXPECT_EQ(run::unwritten_part(actual, &expected), "the engine left 4 of its 6 elements unwritten");
    EXPECT_EQ(run::unwritten_at(actual, expected), (std::vector<std::uint64_t>{2, 3, 4, 5}));
    EXPECT_EQ(run::unwritten_at(actual, expected, 5), std::vector<std::uint64_t>{}) << "three bytes may be, too";
}

TEST(BlankOutput, IsOtherThanWhatDiffers) {
    using expectations::Happening;
    const auto subject = cases_of({slice_with_expected}).front();
    const struct {
        Behaviour behaviour;
        Happening happening;
        Happening other;
    } rows[] = {{silent(), Happening::unwritten, Happening::differs},
                {zeroing(), Happening::differs, Happening::unwritten}};
    for (const auto& row : rows) {
        FakeEngine engine(row.behaviour);
        const run::CaseResult result = run::run_case(subject, engine);
        EXPECT_TRUE(run::happened(row.happening, result));
        EXPECT_FALSE(run::happened(row.other, result));
        EXPECT_TRUE(run::happened(Happening::anything, result));
    }
}

TEST(BlankOutput, ZeroWhereItShouldBe) {
    for (const char* expected : {"[0, 0]", "[1e-40, 0]"}) {
        EXPECT_EQ(run_on(zeroing(), lenient_case(expected)).status, run::Status::pass) << expected;
    }
    // If only some elements are zero, the tolerance decides.
    EXPECT_EQ(run_on({}, lenient_case("[0, 3]")).status, run::Status::pass);
}

/// A case that spells -0.0, as a number or as bits, asks for its sign. Zeros are no blank output there either.
TEST(BlankOutput, ZeroOfTheOtherSignIsNotBlank) {
    for (const char* expected : {"[0, -0.0]", "[0, \"0x80000000\"]"}) {
        const run::CaseResult result = run_on(zeroing(), lenient_case(expected));
        EXPECT_EQ(result.status, run::Status::fail) << expected;
        EXPECT_EQ(result.reason, "the output differs beyond tolerance") << expected;
    }
    const core::TensorDesc desc = core::TensorDesc::packed(core::DataType::float32, {2});
    core::Tensor expected(desc);
    core::Tensor actual(desc);
    for (std::uint64_t i = 0; i < 2; ++i) {
        core::store_element(expected.buffer.bytes(), desc.data_type, i, i == 0 ? 0 : 0x80000000);
        core::store_element(actual.buffer.bytes(), desc.data_type, i, 0);
    }
    EXPECT_EQ(run::blank_output(expected, actual), std::nullopt);
}

TEST(BlankOutput, RoundingToZeroIsForTheTolerance) {
    for (const auto type : {core::DataType::int8, core::DataType::uint8, core::DataType::int64}) {
        const core::TensorDesc desc = core::TensorDesc::packed(type, {1});
        core::Tensor expected(desc);
        core::Tensor actual(desc);
        std::memset(actual.buffer.bytes().data(), 0, desc.total_bytes);
        const std::pair<std::int64_t, bool> values[] = {
            {1, false}, {-1, type == core::DataType::uint8}, {2, true}, {-2, true}};
        for (const auto& [value, blank] : values) {
            std::memcpy(expected.buffer.bytes().data(), &value, desc.total_bytes);
            EXPECT_EQ(run::blank_output(expected, actual).has_value(), blank) << core::name(type) << " " << value;
        }
    }
}

/// Devices may flush subnormal numbers.
TEST(BlankOutput, SubnormalNumbersMayBecomeZero) {
    struct {
        core::DataType type;
        std::uint64_t largest_subnormal;
    } const rows[] = {{core::DataType::float16, 0x3ff},
                      {core::DataType::float32, 0x7fffff},
                      {core::DataType::float64, 0xfffffffffffff}};
    for (const auto& [type, largest_subnormal] : rows) {
        const core::TensorDesc desc = core::TensorDesc::packed(type, {1});
        core::Tensor expected(desc);
        core::Tensor actual(desc);
        core::store_element(actual.buffer.bytes(), type, 0, 0);
        core::store_element(expected.buffer.bytes(), type, 0, largest_subnormal);
        EXPECT_EQ(run::blank_output(expected, actual, false), std::nullopt) << core::name(type);
        core::store_element(expected.buffer.bytes(), type, 0, largest_subnormal + 1);
        EXPECT_TRUE(run::blank_output(expected, actual, false).has_value()) << core::name(type);
    }
}

TEST(BlankOutput, OfEveryType) {
    for (std::uint32_t i = 1; i < core::data_type_count; ++i) {
        const auto type = static_cast<core::DataType>(i);
        const core::TensorDesc desc = core::TensorDesc::packed(type, {3});
        core::Tensor expected(desc);
        std::memset(expected.buffer.bytes().data(), 0x42, desc.total_bytes);
        core::Tensor actual = core::output_tensor(desc);
        EXPECT_EQ(run::blank_output(expected, actual), "the engine wrote nothing to it") << core::name(type);
        std::memset(actual.buffer.bytes().data(), 0, desc.total_bytes);
        EXPECT_EQ(run::blank_output(expected, actual), "it is all zero, and should not be") << core::name(type);
        EXPECT_EQ(run::blank_output(actual, actual), std::nullopt) << core::name(type);
        EXPECT_EQ(run::blank_output(expected, expected), std::nullopt) << core::name(type);
    }
}

}  // namespace
}  // namespace dmlconform::tests::blank_output_test
