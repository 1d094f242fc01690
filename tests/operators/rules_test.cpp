// Tests of engine/operators/rules: rules for all operators, feature levels, and the registry of rules for single
// operators.
#include "engine/operators/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::rules_test {
namespace {

using core::DataType;
using core::FeatureLevel;
using operators::Descriptor;

Descriptor slice(DataType type = DataType::float32) {
    return describe("SLICE1", {{"InputTensor", tensor(type, {1, 2, 3, 4})},
                               {"OutputTensor", tensor(type, {1, 2, 3, 4})},
                               {"InputWindowOffsets", {0, 0, 0, 0}},
                               {"InputWindowSizes", {1, 2, 3, 4}},
                               {"InputWindowStrides", {1, 1, 1, 1}}});
}

Descriptor slice_of_rank(std::size_t rank) {
    const core::Dimensions ones(rank, 1);
    return describe("SLICE1", {{"InputTensor", tensor(DataType::int8, ones)},
                               {"OutputTensor", tensor(DataType::int8, ones)},
                               {"InputWindowOffsets", core::Dimensions(rank, 0)},
                               {"InputWindowSizes", ones},
                               {"InputWindowStrides", std::vector<std::int32_t>(rank, 1)}});
}

Descriptor normalization() {
    return describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", tensor(DataType::float32, {1, 2, 3, 4})},
                                                     {"OutputTensor", tensor(DataType::float32, {1, 2, 3, 4})},
                                                     {"Axes", {2, 3}},
                                                     {"NormalizeVariance", 1},
                                                     {"Epsilon", 1e-5}});
}

TEST(Rules, OpinionsForSentencesAboutEngines) {
    const Descriptor wide = slice(DataType::int64);
    EXPECT_EQ(operators::catalogue_opinion(wide, core::highest_feature_level), "it is legal by the catalogue");
    EXPECT_EQ(operators::catalogue_opinion(wide, FeatureLevel{4, 1}),
              "it is legal by the catalogue at feature level 4.1");
    EXPECT_EQ(operators::catalogue_opinion(wide, FeatureLevel{4, 0}),
              "by the catalogue it is illegal at feature level 4.0: tensor.dataType, legal from 4.1 on");
    const Descriptor none = describe("SLICE1", {{"InputTensor", tensor(DataType::int8, {4, 4})},
                                                {"OutputTensor", tensor(DataType::int8, {4, 4})},
                                                {"InputWindowOffsets", {0, 0}},
                                                {"InputWindowSizes", {4, 4}},
                                                {"InputWindowStrides", {1, 0}}});
    EXPECT_EQ(operators::catalogue_opinion(none, core::highest_feature_level),
              "by the catalogue it is illegal: SLICE1.windowStride");
}

TEST(Rules, FieldsAndTensorsTogether) {
    const RuleCase cases[] = {
        {"required tensor absent", {{"InputTensor", nullptr}}, "field.required"},
        {"required output absent", {{"OutputTensor", nullptr}}, "field.required"},
        {"optional tensors absent", {{"ScaleTensor", nullptr}, {"BiasTensor", nullptr}}, ""},
        // BOOL is an int: any value except 0 is TRUE.
        {"BOOL of 2", {{"NormalizeVariance", 2}}, ""},
        {"types differ", {{"OutputTensor", tensor(DataType::float16, {1, 2, 3, 4})}}, "tensor.sameDataType"},
        {"type of an optional tensor differs",
         {{"BiasTensor", tensor(DataType::float16, {1, 2, 1, 1})}},
         "tensor.sameDataType"},
        {"ranks differ", {{"OutputTensor", tensor(DataType::float32, {2, 3, 4})}}, "tensor.sameDimensionCount"},
        {"sizes differ", {{"OutputTensor", tensor(DataType::float32, {1, 2, 4, 3})}}, "tensor.sameSizes"},
        {"sizes agree, strides need not",
         {{"OutputTensor", tensor(DataType::float32, {1, 2, 3, 4}, {99, 12, 1, 3})}},
         ""},
    };
    expect_verdicts(normalization(), cases);
}

TEST(Rules, Enumerations) {
    const Descriptor base = describe("TOP_K1", {{"InputTensor", tensor(DataType::float32, {4})},
                                                {"OutputValueTensor", tensor(DataType::float32, {2})},
                                                {"OutputIndexTensor", tensor(DataType::uint32, {2})},
                                                {"K", 2}});
    const RuleCase cases[] = {
        {"INCREASING", {{"AxisDirection", 0}}, ""},
        {"DECREASING", {{"AxisDirection", 1}}, ""},
        {"no such direction", {{"AxisDirection", 2}}, "field.enumeration"},
        {"no such direction", {{"AxisDirection", 0xffffffff}}, "field.enumeration"},
    };
    expect_verdicts(base, cases);
}

TEST(Rules, Levels) {
    struct Row {
        Descriptor descriptor;
        FeatureLevel minimum;
        FeatureLevel below;     // a level that is too low
        std::string_view rule;  // the rule that rejects at that level
    };
    const Row rows[] = {
        {slice(), {2, 1}, {2, 0}, "operator.featureLevel"},
        {slice_of_rank(5), {2, 1}, {1, 0}, "operator.featureLevel"},
        {slice_of_rank(3), {3, 0}, {2, 1}, "tensor.dimensionCount"},
        {slice_of_rank(6), {3, 0}, {2, 1}, "tensor.dimensionCount"},
        {slice_of_rank(8), {3, 0}, {2, 1}, "tensor.dimensionCount"},
        {slice(DataType::float64), {4, 1}, {4, 0}, "tensor.dataType"},
        {slice(DataType::uint64), {4, 1}, {3, 0}, "tensor.dataType"},
        {slice(DataType::int8), {2, 1}, {2, 0}, "operator.featureLevel"},
        {normalization(), {2, 1}, {2, 0}, "operator.featureLevel"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(to_lines(row.descriptor).front());
        EXPECT_EQ(operators::minimum_feature_level(row.descriptor), row.minimum);
        EXPECT_FALSE(operators::validate(row.descriptor, row.minimum));
        EXPECT_FALSE(operators::validate(row.descriptor, core::highest_feature_level));
        const auto verdict = operators::validate(row.descriptor, row.below);
        ASSERT_TRUE(verdict);
        EXPECT_EQ(verdict->rule, row.rule) << verdict->message;
        EXPECT_EQ(verdict->legal_from, row.minimum);
    }
}

TEST(Rules, WhatIsNeverLegal) {
    for (const Descriptor& descriptor : {slice_of_rank(9), slice(DataType::uint4), slice(DataType::unknown),
                                         with(slice(), {{"InputWindowStrides", {1, 1, 1, 0}}})}) {
        SCOPED_TRACE(to_lines(descriptor).front());
        EXPECT_EQ(operators::minimum_feature_level(descriptor), std::nullopt);
        for (const FeatureLevel level : core::feature_levels()) {
            const auto verdict = operators::validate(descriptor, level);
            ASSERT_TRUE(verdict);
            EXPECT_EQ(verdict->legal_from, std::nullopt);
        }
    }
}

/// legal_from is the first level at which all rules accept, not only the one that rejects here.
TEST(Rules, LegalFromLooksAtAllRules) {
    // At 2.0 the operator does not exist; at 2.1 it exists, but without INT64.
    const auto verdict = operators::validate(slice(DataType::int64), {2, 0});
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->rule, "operator.featureLevel");
    EXPECT_EQ(verdict->legal_from, (FeatureLevel{4, 1}));
}

TEST(Rules, FusedActivations) {
    const auto fused = [](std::string_view name, const std::vector<Setting>& settings = {}) {
        return std::vector<Setting>{{"FusedActivation", activation(name, settings)}};
    };
    const RuleCase cases[] = {
        {"none", {{"FusedActivation", nullptr}}, "", {2, 1}},
        {"LINEAR", fused("ACTIVATION_LINEAR", {{"Alpha", 1}}), "", {2, 1}},
        {"IDENTITY", fused("ACTIVATION_IDENTITY"), "", {2, 1}},
        {"RELU", fused("ACTIVATION_RELU"), "", {2, 1}},
        {"LEAKY_RELU", fused("ACTIVATION_LEAKY_RELU"), "", {2, 1}},
        {"THRESHOLDED_RELU", fused("ACTIVATION_THRESHOLDED_RELU"), "", {2, 1}},
        {"ELU", fused("ACTIVATION_ELU"), "", {2, 1}},
        {"CELU", fused("ACTIVATION_CELU", {{"Alpha", 1}}), "", {3, 0}},
        {"CELU too early",
         fused("ACTIVATION_CELU", {{"Alpha", 1}}),
         "activation.featureLevel",
         {2, 1},
         FeatureLevel{3, 0}},
        {"SCALED_ELU", fused("ACTIVATION_SCALED_ELU"), "", {2, 1}},
        {"SIGMOID", fused("ACTIVATION_SIGMOID"), "", {2, 1}},
        {"HARD_SIGMOID", fused("ACTIVATION_HARD_SIGMOID"), "", {2, 1}},
        {"TANH", fused("ACTIVATION_TANH"), "", {2, 1}},
        {"SCALED_TANH", fused("ACTIVATION_SCALED_TANH"), "", {2, 1}},
        {"SOFTPLUS", fused("ACTIVATION_SOFTPLUS", {{"Steepness", 1}}), "", {2, 1}},
        {"PARAMETRIC_SOFTPLUS", fused("ACTIVATION_PARAMETRIC_SOFTPLUS"), "", {2, 1}},
        {"SOFTSIGN", fused("ACTIVATION_SOFTSIGN"), "", {2, 1}},
        {"SHRINK", fused("ACTIVATION_SHRINK"), "", {2, 1}},
        {"GELU", fused("ACTIVATION_GELU"), "", {5, 1}},
        {"GELU too early", fused("ACTIVATION_GELU"), "activation.featureLevel", {5, 0}, FeatureLevel{5, 1}},
        {"SWISH", fused("ACTIVATION_SWISH"), "", {6, 2}},
        {"SWISH too early", fused("ACTIVATION_SWISH"), "activation.featureLevel", {6, 1}, FeatureLevel{6, 2}},
        {"HARD_SWISH", fused("ACTIVATION_HARD_SWISH"), "", {6, 2}},
        {"flat SOFTPLUS too early",
         fused("ACTIVATION_SOFTPLUS", {{"Steepness", 0.5}}),
         "field.minimum",
         {6, 3},
         FeatureLevel{6, 4}},
        {"flat SOFTPLUS", fused("ACTIVATION_SOFTPLUS", {{"Steepness", 0.5}}), ""},
        {"steep enough SOFTPLUS", fused("ACTIVATION_SOFTPLUS", {{"Steepness", 1}}), "", {6, 3}},
        {"no number for Steepness",
         fused("ACTIVATION_SOFTPLUS", {{"Steepness", std::nanf("")}}),
         "field.minimum",
         {6, 3},
         FeatureLevel{6, 4}},
        {"parameter absent", fused("ACTIVATION_ELU", {{"Alpha", nullptr}}), "field.required"},
        {"SOFTMAX", fused("ACTIVATION_SOFTMAX"), "activation.fusable"},
        {"SOFTMAX1", fused("ACTIVATION_SOFTMAX1"), "activation.fusable"},
        {"LOG_SOFTMAX", fused("ACTIVATION_LOG_SOFTMAX"), "activation.fusable"},
        {"LOG_SOFTMAX1", fused("ACTIVATION_LOG_SOFTMAX1"), "activation.fusable"},
        {"HARDMAX", fused("ACTIVATION_HARDMAX"), "activation.fusable"},
        {"HARDMAX1", fused("ACTIVATION_HARDMAX1"), "activation.fusable"},
        {"PARAMETERIZED_RELU", fused("ACTIVATION_PARAMETERIZED_RELU"), "activation.fusable"},
        {"no activation at all", fused("SLICE1"), "activation.fusable"},
        {"tensors inside", fused("ACTIVATION_RELU", {{"InputTensor", tensor(DataType::float32, {1, 2, 3, 4})}}),
         "activation.tensors"},
        {"tensors inside", fused("ACTIVATION_RELU", {{"OutputTensor", tensor(DataType::float32, {1, 2, 3, 4})}}),
         "activation.tensors"},
    };
    expect_verdicts(normalization(), cases);
}

TEST(Rules, OperatorsWithoutRulesOfTheirOwn) {
    // The catalogue's rules still apply.
    const Descriptor relu = describe("ACTIVATION_RELU", {{"InputTensor", tensor(DataType::float32, {1, 1, 1, 2})},
                                                         {"OutputTensor", tensor(DataType::float32, {1, 1, 1, 2})}});
    EXPECT_FALSE(operators::validate(relu, {1, 0}));
    EXPECT_TRUE(operators::validate(with(relu, {{"InputTensor", tensor(DataType::float32, {1, 1, 1, 3})}}), {1, 0}));
}

TEST(Rules, AMinimumBelowAFeatureLevel) {
    const RuleCase cases[] = {
        {"too flat", {{"Steepness", 0.5}}, "field.minimum", {6, 3}, FeatureLevel{6, 4}},
        {"steep enough", {{"Steepness", 1}}, "", {6, 3}},
        {"flat, but late enough", {{"Steepness", 0.5}}, ""},
    };
    expect_verdicts(describe("ACTIVATION_SOFTPLUS", {{"InputTensor", tensor(DataType::float32, {1, 1, 1, 4})},
                                                     {"OutputTensor", tensor(DataType::float32, {1, 1, 1, 4})},
                                                     {"Steepness", 2}}),
                    cases);
}

/// Words that begin with an upper-case letter and have a lower-case one, such as names of fields.
std::vector<std::string> capitalised_words(const std::string& text) {
    static const std::regex word("\\b[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*");
    std::vector<std::string> words;
    for (std::sregex_iterator found(text.begin(), text.end(), word); found != std::sregex_iterator(); ++found) {
        words.push_back(found->str());
    }
    return words;
}

TEST(Rules, EveryRuleOfEveryOperatorIsExplained) {
    const auto names = operators::operator_names();
    EXPECT_EQ(names.size(), 177u);
    for (const std::string& name : names) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        std::string before;
        for (const auto& [rule, sentence, formulas] : operators::explained_rules(schema)) {
            SCOPED_TRACE(name + " " + rule);
            EXPECT_LT(before, rule) << "sorted, and each once";
            before = rule;
            EXPECT_GE(std::ranges::count(sentence, ' '), 2) << sentence;
            EXPECT_TRUE(sentence.ends_with('.')) << sentence;
            EXPECT_EQ(rule.ends_with(".outputSizes") && formulas.empty(), false) << "sizes need formulas";
            for (const std::string& word : capitalised_words(sentence)) {
                EXPECT_TRUE(schema.find_field(word) != nullptr || !word.ends_with("Tensor")) << word;
            }
            for (const std::string& formula : formulas) {
                for (const std::string& word : capitalised_words(formula)) {
                    EXPECT_TRUE(schema.find_field(word) != nullptr || word == "If" || word == "Width" ||
                                word == "Height")
                        << word << " in " << formula;
                }
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::rules_test
