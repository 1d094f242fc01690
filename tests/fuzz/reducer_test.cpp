// Tests of reducing failing cases: on engines with planted bugs, only what the bug needs remains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/core/element.h"
#include "engine/expectations/expectation_file.h"
#include "engine/fuzz/case_generator.h"
#include "engine/fuzz/reducer.h"
#include "engine/run/failure_kind.h"
#include "engine/run/runner.h"
#include "tests/run/fake_engine.h"
#include "tests/tensor_values.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::reducer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

cases::Case case_in(const std::string& text) {
    const cases::Suite suite = cases::read_case_file("planted.json", "{ \"cases\": [" + text + "] }");
    for (const cases::Problem& problem : suite.problems) {
        throw std::logic_error(cases::to_string(problem));
    }
    return suite.cases.at(0);
}

/// A bug that makes the first element wrong if the first output has at least 3 elements and one of them is 7.
Behaviour wrong_with_a_seven() {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        const auto values = values_of<std::int32_t>(*outputs[0]);
        if (values.size() >= 3 && std::count(values.begin(), values.end(), 7) != 0) {
            outputs[0]->buffer.bytes()[0] ^= std::byte{1};
        }
    };
    return behaviour;
}

/// The same bug, but only if an output shares memory with an input.
class WrongInPlace final : public Engine {
public:
    [[nodiscard]] const EngineInfo& info() const override { return wrong_.info(); }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override {
        return wrong_.unsupported(descriptor);
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        return (descriptor.in_place.empty() ? right_ : wrong_).compile(descriptor);
    }

private:
    FakeEngine wrong_{wrong_with_a_seven()};
    FakeEngine right_{Behaviour()};
};

std::vector<std::int32_t> input_of(const cases::Case& subject) {
    core::Tensor tensor(*subject.descriptor->inputs()[0].desc);
    EXPECT_TRUE(subject.inputs[0]->fill(tensor));
    return values_of<std::int32_t>(tensor);
}

const std::string slice = R"({ "name": "a", "operator": "SLICE1", "desc": {
    "InputTensor": { "DataType": "INT32", "Sizes": [2, 3, 40], "Strides": [200, 50, 1], "TotalTensorSizeInBytes": 2000 },
    "OutputTensor": { "DataType": "INT32", "Sizes": [1, 2, 10] },
    "InputWindowOffsets": [1, 0, 4], "InputWindowSizes": [1, 2, 30], "InputWindowStrides": [1, 1, 3] },
    "inputs": { "InputTensor": { "start": -123, "step": 1 } } })";

TEST(Reducer, ASliceShrinksToWhatTheBugNeeds) {
    FakeEngine engine(wrong_with_a_seven());
    const auto reduction = fuzz::reduce(case_in(slice), engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    EXPECT_TRUE(reduction->finished);
    const operators::Descriptor& descriptor = *reduction->subject.descriptor;
    EXPECT_THAT(descriptor.sizes("InputTensor"), ElementsAre(3));
    EXPECT_THAT(descriptor.sizes("OutputTensor"), ElementsAre(3));
    EXPECT_FALSE(descriptor.tensor("InputTensor")->strides.has_value());
    EXPECT_THAT(descriptor.uints("InputWindowOffsets"), ElementsAre(0));
    auto values = input_of(reduction->subject);
    std::sort(values.begin(), values.end());
    EXPECT_THAT(values, ElementsAre(0, 0, 7));
    EXPECT_EQ(reduction->subject.id, "reduced/a");
    EXPECT_THAT(reduction->subject.description, HasSubstr("planted/a"));
    // The reduced case still fails in the same way.
    EXPECT_EQ(run::run_case(reduction->subject, engine).status, run::Status::fail);
}

/// An engine whose first element is wrong for some strides of the first input.
class WrongForStrides final : public Engine {
public:
    explicit WrongForStrides(std::function<bool(const core::TensorDesc&)> which) : which_(std::move(which)) {}

    [[nodiscard]] const EngineInfo& info() const override { return right_.info(); }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override {
        return right_.unsupported(descriptor);
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        const core::TensorDesc& input = *descriptor.inputs()[0].desc;
        return (input.strides && which_(input) ? wrong_ : right_).compile(descriptor);
    }

private:
    static Behaviour changes_the_first() {
        Behaviour behaviour;
        behaviour.change = [](std::span<core::Tensor* const> outputs) {
            outputs[0]->buffer.bytes()[3] ^= std::byte{0x40};
        };
        return behaviour;
    }

    std::function<bool(const core::TensorDesc&)> which_;
    FakeEngine wrong_{changes_the_first()};
    FakeEngine right_{Behaviour()};
};

/// What remains of the first input.
core::TensorDesc reduced_on(Engine& engine, const std::string& text) {
    const auto reduction = fuzz::reduce(case_in(text), engine, nullptr);
    EXPECT_TRUE(reduction.has_value());
    EXPECT_EQ(run::run_case(reduction->subject, engine).status, run::Status::fail);
    return *reduction->subject.descriptor->inputs()[0].desc;
}

/// Sizes and dimensions shrink although the failure needs a stride other than 1.
TEST(Reducer, KeepsTheStridesThatAFailureNeeds) {
    WrongForStrides engine(
        [](const core::TensorDesc& input) { return input.sizes.back() > 1 && input.strides->back() != 1; });
    const core::TensorDesc small = reduced_on(engine, R"({ "name": "a", "operator": "ELEMENT_WISE_ADD1", "desc": {
        "ATensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 16, 24], "Strides": [1, 1, 1, 16] },
        "BTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 16, 24] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 16, 24] } },
        "inputs": { "ATensor": { "random": "uniform", "seed": 1 }, "BTensor": { "random": "uniform", "seed": 2 } } })");
    EXPECT_THAT(small.sizes, ElementsAre(2));
    EXPECT_TRUE(small.strides);
    EXPECT_EQ(core::minimum_total_bytes(small), small.total_bytes);
}

/// Gaps go if the failure only needs the order of dimensions in memory.
TEST(Reducer, PacksStridesAnew) {
    WrongForStrides engine([](const core::TensorDesc& input) {
        return input.sizes.size() == 2 && input.sizes[0] > 1 && input.sizes[1] > 1 &&
               input.strides->at(0) < input.strides->at(1);
    });
    const core::TensorDesc small = reduced_on(engine, R"({ "name": "a", "operator": "ELEMENT_WISE_IDENTITY", "desc": {
        "InputTensor": { "DataType": "INT32", "Sizes": [5, 6], "Strides": [3, 70] },
        "OutputTensor": { "DataType": "INT32", "Sizes": [5, 6] } },
        "inputs": { "InputTensor": { "start": 1, "step": 1 } } })");
    EXPECT_THAT(small.sizes, ElementsAre(2, 2));
    EXPECT_THAT(*small.strides, ElementsAre(1, 2));
    EXPECT_EQ(small.total_bytes, 16u);
}

/// The reduced case has other data than what was expected in FP32, and no expected values.
TEST(Reducer, WritesACaseThatIsRead) {
    const std::string rounded = R"({ "name": "a", "operator": "ELEMENT_WISE_IDENTITY", "desc": {
        "InputTensor": { "DataType": "INT32", "Sizes": [4] }, "OutputTensor": { "DataType": "INT32", "Sizes": [4] } },
        "inputs": { "InputTensor": [1, 7, 2, 3] }, "expected": { "OutputTensor": [1, 7, 2, 3] },
        "expectedPrecision": "fp32" })";
    FakeEngine engine(wrong_with_a_seven());
    const auto reduction = fuzz::reduce(case_in(rounded), engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    const auto written = cases::case_to_json(reduction->subject, {});
    ASSERT_TRUE(written.has_value()) << written.error().message;
    const cases::Suite suite = cases::read_case_file("reduced.json", cases::case_file_text("", {&*written, 1}));
    ASSERT_TRUE(suite.problems.empty()) << cases::to_string(suite.problems.front());
    EXPECT_EQ(run::run_case(suite.cases.at(0), engine).status, run::Status::fail);
}

TEST(Reducer, WhatIsKnownIsAnotherFailure) {
    // A known failure for outputs with fewer than 5 elements.
    auto file = expectations::read_expectations(
        "e.json",
        R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [ { "operators": "SLICE1",
            "when": { "OutputTensor": { "elements": { "below": 5 } } }, "status": "fail", "happens": "differs",
            "sometimes": true, "reason": "small" } ] })");
    FakeEngine engine(wrong_with_a_seven());
    run::ExpectedResults expected(std::move(file.expectations), expectations::today());
    expected.set_engines(std::vector<EngineInfo>{engine.info()});
    fuzz::ReduceSettings settings;
    settings.expected = &expected;
    const auto reduction = fuzz::reduce(case_in(slice), engine, nullptr, settings);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    EXPECT_EQ(core::element_count(reduction->subject.descriptor->sizes("OutputTensor")), 5u);
}

/// 4-bit elements in inputs and in expected values.
TEST(Reducer, ElementsOfFourBits) {
    const std::string dequantize = R"({ "name": "a", "operator": "DEQUANTIZE", "desc": {
        "InputTensor": { "DataType": "INT4", "Sizes": [1, 1, 3, 7], "Strides": [90, 90, 30, 2] },
        "QuantizationType": "SCALE", "QuantizationTensors": [{ "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] }],
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 3, 7] } },
        "inputs": { "InputTensor": [1,2,3,4,5,6,-8, 1,2,3,4,7,6,-8, 1,2,3,4,5,6,-8],
                    "QuantizationTensors[0]": [1] } })";
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        const auto values = values_of<float>(*outputs[0]);
        if (values.size() >= 3 && std::count(values.begin(), values.end(), 7.0F) != 0) {
            outputs[0]->buffer.bytes()[3] ^= std::byte{1};
        }
    };
    FakeEngine engine(behaviour);
    const auto reduction = fuzz::reduce(case_in(dequantize), engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    const core::TensorDesc& input = *reduction->subject.descriptor->tensor("InputTensor");
    EXPECT_FALSE(input.strides.has_value());
    EXPECT_EQ(*core::element_count(input.sizes), 3u);
    core::Tensor tensor(input);
    ASSERT_TRUE(reduction->subject.inputs[0]->fill(tensor));
    std::vector<std::uint64_t> elements;
    for (std::uint64_t i = 0; i < 3; ++i) {
        elements.push_back(core::load_element(tensor.buffer.bytes(), input.data_type, i));
    }
    std::ranges::sort(elements);
    EXPECT_THAT(elements, ElementsAre(0, 0, 7));
}

TEST(Reducer, OutputsOfFourBits) {
    const std::string quantize = R"({ "name": "a", "operator": "QUANTIZE", "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 9] },
        "QuantizationType": "SCALE", "QuantizationTensors": [{ "DataType": "FLOAT32", "Sizes": [1, 1, 1, 1] }],
        "OutputTensor": { "DataType": "INT4", "Sizes": [1, 1, 1, 9] } },
        "inputs": { "InputTensor": { "start": -4, "step": 1 }, "QuantizationTensors[0]": [1] } })";
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->buffer.bytes()[0] ^= std::byte{5}; };
    FakeEngine engine(behaviour);
    FakeEngine other(Behaviour{});
    const auto reduction = fuzz::reduce(case_in(quantize), engine, &other);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    EXPECT_EQ(*core::element_count(reduction->subject.descriptor->sizes("OutputTensor")), 1u);
    const auto object = cases::case_to_json(reduction->subject);
    ASSERT_TRUE(object.has_value());
}

/// A write beyond the end is more severe than a wrong element, so it is the reported reason.
TEST(Reducer, AStrayWriteIsOneWhateverElseIsWrong) {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        outputs[0]->buffer.bytes()[0] ^= std::byte{1};
        outputs[0]->buffer.bytes().back() = std::byte{0};
    };
    FakeEngine engine(behaviour);
    const cases::Case subject = case_in(slice);
    const run::CaseResult result = run::run_case(subject, engine);
    EXPECT_EQ(run::kind_of(subject, result).what, run::FailureKind::What::stray_write);
}

TEST(Reducer, AxesMoveWithTheDimensionsBeforeThem) {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->buffer.bytes()[3] ^= std::byte{0x40}; };
    FakeEngine engine(behaviour);
    const auto reduction = fuzz::reduce(case_in(R"({ "name": "a", "operator": "MEAN_VARIANCE_NORMALIZATION1", "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 4] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1, 1, 1, 4] },
        "Axes": [3], "NormalizeVariance": true, "Epsilon": 0.5 },
        "inputs": { "InputTensor": [1, 2, 3, 5] } })"),
                                        engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    EXPECT_EQ(reduction->subject.descriptor->sizes("InputTensor").size(), 1u);
}

TEST(Reducer, WhatFailsOtherwiseIsAnotherFailure) {
    // Small tensors fail in another way, so the smallest case with the same failure is larger.
    Behaviour behaviour = wrong_with_a_seven();
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        const auto values = values_of<std::int32_t>(*outputs[0]);
        if (values.size() < 6) {
            throw std::runtime_error("broken");
        }
        outputs[0]->buffer.bytes()[0] ^= std::byte{1};
    };
    FakeEngine engine(behaviour);
    const auto reduction = fuzz::reduce(case_in(slice), engine, nullptr);
    ASSERT_TRUE(reduction.has_value());
    EXPECT_EQ(*core::element_count(reduction->subject.descriptor->sizes("OutputTensor")), 6u);
    EXPECT_EQ(reduction->result.status, run::Status::fail);
}

TEST(Reducer, OptionalTensorsAndActivationsGo) {
    const auto subject = case_in(R"({ "name": "n", "operator": "MEAN_VARIANCE_NORMALIZATION1", "desc": {
        "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3, 4, 5] },
        "ScaleTensor": { "DataType": "FLOAT32", "Sizes": [1, 3, 1, 1] },
        "BiasTensor": { "DataType": "FLOAT32", "Sizes": [1, 3, 1, 1] },
        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3, 4, 5] },
        "Axes": [0, 2, 3], "NormalizeVariance": true, "Epsilon": 0.5, "FusedActivation": { "Type": "ACTIVATION_RELU" } },
        "inputs": { "InputTensor": { "random": "uniform", "min": -1, "max": 1, "seed": 3 },
                    "ScaleTensor": [1, 2, 3], "BiasTensor": [3, 4, 5] } })");
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->as<float>()[0] += 8; };
    FakeEngine engine(behaviour);
    const auto reduction = fuzz::reduce(subject, engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    const operators::Descriptor& descriptor = *reduction->subject.descriptor;
    EXPECT_EQ(descriptor.tensor("ScaleTensor"), nullptr);
    EXPECT_EQ(descriptor.tensor("BiasTensor"), nullptr);
    EXPECT_EQ(descriptor.activation("FusedActivation"), nullptr);
    EXPECT_EQ(*core::element_count(descriptor.sizes("InputTensor")), 1u);
}

TEST(Reducer, MemoryIsSharedOnlyWhereTheBugNeedsThat) {
    const auto subject = case_in(R"({ "name": "n", "operator": "ELEMENT_WISE_ADD", "desc": {
        "ATensor": { "DataType": "INT32", "Sizes": [2, 3], "Strides": [4, 1] },
        "BTensor": { "DataType": "INT32", "Sizes": [2, 3] },
        "OutputTensor": { "DataType": "INT32", "Sizes": [2, 3], "Strides": [4, 1] } },
        "inPlace": { "OutputTensor": "ATensor" },
        "inputs": { "ATensor": [7, 1, 2, 3, 4, 5], "BTensor": [0, 0, 0, 0, 0, 0] } })");
    FakeEngine engine(wrong_with_a_seven());
    const auto apart = fuzz::reduce(subject, engine, nullptr);
    ASSERT_TRUE(apart.has_value()) << apart.error().message;
    EXPECT_TRUE(apart->subject.descriptor->in_place.empty());
    EXPECT_EQ(*core::element_count(apart->subject.descriptor->sizes("OutputTensor")), 3u);

    WrongInPlace other;
    const auto shared = fuzz::reduce(subject, other, nullptr);
    ASSERT_TRUE(shared.has_value()) << shared.error().message;
    EXPECT_EQ(shared->subject.descriptor->in_place.size(), 1u);
    EXPECT_EQ(*core::element_count(shared->subject.descriptor->sizes("OutputTensor")), 3u);
    EXPECT_FALSE(shared->subject.descriptor->tensor("ATensor")->strides.has_value());
}

TEST(Reducer, ConvolutionsStayConvolutions) {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        if (outputs[0]->desc.sizes[1] >= 2) {
            outputs[0]->buffer.bytes()[0] ^= std::byte{0x55};
        }
    };
    FakeEngine engine(behaviour);
    std::size_t reduced = 0;
    for (std::uint64_t n = 0; n < 6; ++n) {
        const auto subject = fuzz::generate(*operators::find_operator("QUANTIZED_LINEAR_CONVOLUTION"),
                                            {.seed = 8, .perturbed_percent = 0}, n);
        const auto reduction = fuzz::reduce(*subject, engine, nullptr);
        if (!reduction) {
            continue;  // there is one output channel
        }
        ++reduced;
        const operators::Descriptor& descriptor = *reduction->subject.descriptor;
        EXPECT_FALSE(operators::validate(descriptor, core::highest_feature_level));
        // One output element per group. The number of groups depends on the input's channels.
        EXPECT_EQ(*core::element_count(descriptor.sizes("OutputTensor")), std::max(2u, descriptor.uint("GroupCount")));
        EXPECT_EQ(descriptor.tensor("BiasTensor"), nullptr);
    }
    EXPECT_GT(reduced, 2u);
}

TEST(Reducer, IllegalDescriptorsStayIllegalByTheSameRule) {
    cases::Case subject = case_in(R"({ "name": "r", "operator": "SLICE1", "expectError": "E_INVALIDARG", "desc": {
        "InputTensor": { "DataType": "INT32", "Sizes": [20, 30] }, "OutputTensor": { "DataType": "INT32", "Sizes": [5, 6] },
        "InputWindowOffsets": [3, 4], "InputWindowSizes": [10, 20], "InputWindowStrides": [2, 0] } })");
    FakeEngine engine(Behaviour{});
    const auto reduction = fuzz::reduce(subject, engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    EXPECT_TRUE(reduction->finished);
    const auto verdict = operators::validate(*reduction->subject.descriptor, core::highest_feature_level);
    ASSERT_TRUE(verdict.has_value());
    EXPECT_EQ(verdict->rule, "SLICE1.windowStride");
    EXPECT_TRUE(reduction->subject.expect_error.has_value());
    EXPECT_THAT(reduction->subject.descriptor->sizes("InputTensor"), ElementsAre(1));
}

TEST(Reducer, WhatIsIllegalByTheSizesOfAnOutputIsNotMadeLegal) {
    const auto subject = case_in(R"({ "name": "r", "operator": "SLICE1", "expectError": "E_INVALIDARG", "desc": {
        "InputTensor": { "DataType": "INT32", "Sizes": [20, 30] }, "OutputTensor": { "DataType": "INT32", "Sizes": [5, 9] },
        "InputWindowOffsets": [3, 4], "InputWindowSizes": [10, 20], "InputWindowStrides": [2, 3] } })");
    const auto rule = operators::validate(*subject.descriptor, core::highest_feature_level).value().rule;
    FakeEngine engine(Behaviour{});
    const auto reduction = fuzz::reduce(subject, engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    const operators::Descriptor& descriptor = *reduction->subject.descriptor;
    EXPECT_EQ(operators::validate(descriptor, core::highest_feature_level).value().rule, rule);
    EXPECT_THAT(descriptor.sizes("InputTensor"), ElementsAre(1));
    EXPECT_THAT(descriptor.sizes("OutputTensor"), ElementsAre(2));
    EXPECT_GT(reduction->steps, 0u);
    // A reduced case cannot be reduced further.
    const auto again = fuzz::reduce(reduction->subject, engine, nullptr);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->steps, 0u);
    EXPECT_TRUE(again->finished);
}

TEST(Reducer, WhatIsShortOfMemoryStaysSo) {
    const auto subject = case_in(R"({ "name": "r", "operator": "SLICE1", "expectError": "E_INVALIDARG", "desc": {
        "InputTensor": { "DataType": "INT32", "Sizes": [20, 30] },
        "OutputTensor": { "DataType": "INT32", "Sizes": [5, 7], "TotalTensorSizeInBytes": 136 },
        "InputWindowOffsets": [3, 4], "InputWindowSizes": [10, 20], "InputWindowStrides": [2, 3] } })");
    FakeEngine engine(Behaviour{});
    const auto reduction = fuzz::reduce(subject, engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    const operators::Descriptor& descriptor = *reduction->subject.descriptor;
    EXPECT_EQ(operators::validate(descriptor, core::highest_feature_level).value().rule, "tensor.totalSize");
    EXPECT_EQ(*core::element_count(descriptor.sizes("OutputTensor")), 1u);
}

TEST(Reducer, LegalDescriptorsThatACaseWantsRejected) {
    const auto subject = case_in(R"({ "name": "r", "operator": "SLICE1", "expectError": "E_INVALIDARG", "desc": {
        "InputTensor": { "DataType": "INT32", "Sizes": [20, 30] }, "OutputTensor": { "DataType": "INT32", "Sizes": [5, 7] },
        "InputWindowOffsets": [3, 4], "InputWindowSizes": [10, 20], "InputWindowStrides": [2, 3] } })");
    FakeEngine engine(Behaviour{});
    const auto reduction = fuzz::reduce(subject, engine, nullptr);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    EXPECT_FALSE(operators::validate(*reduction->subject.descriptor, core::highest_feature_level));
    EXPECT_THAT(reduction->subject.descriptor->sizes("InputTensor"), ElementsAre(1));
}

TEST(Reducer, WithoutAReferenceAnotherEngineSaysWhatIsRight) {
    const WithoutReference resampling("RESAMPLE");
    const auto subject = fuzz::generate(*operators::find_operator("RESAMPLE"), {.seed = 8, .perturbed_percent = 0}, 1);
    ASSERT_TRUE(subject.has_value());
    Behaviour wrong;
    wrong.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->buffer.bytes()[0] ^= std::byte{0x55}; };
    FakeEngine engine(wrong);
    FakeEngine other(Behaviour{});
    const auto reduction = fuzz::reduce(*subject, engine, &other);
    ASSERT_TRUE(reduction.has_value()) << reduction.error().message;
    EXPECT_EQ(*core::element_count(reduction->subject.descriptor->inputs()[0].desc->sizes), 1u);
    EXPECT_TRUE(reduction->subject.expected[0].has_value());
}

TEST(Reducer, SaysWhyNot) {
    FakeEngine right(Behaviour{});
    const auto reduction = fuzz::reduce(case_in(slice), right, nullptr);
    ASSERT_FALSE(reduction.has_value());
    EXPECT_THAT(reduction.error().message, HasSubstr("does not fail on this engine"));
}

TEST(Reducer, EndsWhenTimeIsUp) {
    FakeEngine engine(wrong_with_a_seven());
    const auto reduction = fuzz::reduce(case_in(slice), engine, nullptr, {std::chrono::nanoseconds(0)});
    ASSERT_TRUE(reduction.has_value());
    EXPECT_FALSE(reduction->finished);
    EXPECT_EQ(reduction->attempts, 0u);
}

}  // namespace
}  // namespace dmlconform::tests::reducer_test
