// Tests of engine/operators/constraint_rules and related rules: constraints in the catalogue entries of operators
// without rules in code.
#include "engine/operators/constraint_rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::constraint_rules_test {
namespace {

using core::DataType;
using core::TensorDesc;
using operators::Descriptor;
using operators::TensorDescArray;

TensorDesc floats(core::Dimensions sizes) {
    return tensor(DataType::float32, std::move(sizes));
}

TEST(ConstraintRules, DimensionCounts) {
    const RuleCase paddings[] = {
        {"as many entries as dimensions", {}, ""},
        {"too few", {{"StartPadding", {0, 0}}, {"EndPadding", {0, 0}}, {"DimensionCount", 2}}, "field.dimensionCount"},
        {"too many", {{"StartPadding", {0, 0, 0, 0}}, {"EndPadding", {0, 0, 0, 0}}}, "field.dimensionCount"},
    };
    expect_verdicts(describe("PADDING", {{"InputTensor", floats({2, 3, 4})},
                                         {"OutputTensor", floats({2, 3, 4})},
                                         {"StartPadding", {0, 0, 0}},
                                         {"EndPadding", {0, 0, 0}}}),
                    paddings);
    const auto window = [](std::initializer_list<std::int64_t> ones, std::initializer_list<std::int64_t> zeros) {
        return std::vector<Setting>{
            {"Strides", ones}, {"WindowSize", ones}, {"StartPadding", zeros}, {"EndPadding", zeros}};
    };
    const RuleCase poolings[] = {
        {"as many entries as spatial dimensions", {}, ""},
        {"as many as dimensions", window({1, 1, 1, 1}, {0, 0, 0, 0}), "field.dimensionCount"},
        {"a count that wraps when 2 is added", {{"DimensionCount", 0xfffffffe}}, "field.dimensionCount"},
    };
    std::vector<Setting> settings = window({1, 1}, {0, 0});
    settings.emplace_back("InputTensor", floats({1, 1, 4, 4}));
    settings.emplace_back("OutputTensor", floats({1, 1, 4, 4}));
    expect_verdicts(describe("AVERAGE_POOLING", settings), poolings);
}

TEST(ConstraintRules, Axes) {
    const RuleCase single[] = {
        {"first", {{"Axis", 0}}, ""},
        {"last", {{"Axis", 2}}, ""},
        {"one more", {{"Axis", 3}}, "field.axis"},
        {"largest", {{"Axis", 0xffffffff}}, "field.axis"},
    };
    expect_verdicts(
        describe("CUMULATIVE_SUMMATION", {{"InputTensor", floats({2, 3, 4})}, {"OutputTensor", floats({2, 3, 4})}}),
        single);
    const RuleCase several[] = {
        {"none", {{"Axes", {}}}, ""},
        {"all", {{"Axes", {2, 0, 1}}}, ""},
        {"one beyond", {{"Axes", {0, 3}}}, "field.axis"},
    };
    expect_verdicts(
        describe("ARGMAX", {{"InputTensor", floats({1, 1, 1})}, {"OutputTensor", tensor(DataType::uint32, {1, 1, 1})}}),
        several);
}

TEST(ConstraintRules, DataTypesOfScalars) {
    const auto type = [](DataType value) { return static_cast<std::uint32_t>(value); };
    const RuleCase cases[] = {
        {"the tensor's", {}, ""},
        {"another", {{"ValueDataType", type(DataType::float16)}}, "field.dataType"},
        {"unknown", {{"ValueDataType", 0}}, "field.dataType"},
        {"none of DirectML's", {{"ValueDataType", 14}}, "field.enumeration"},
        {"no value", {{"Value", nullptr}}, "field.required"},
    };
    expect_verdicts(describe("FILL_VALUE_CONSTANT", {{"OutputTensor", floats({2})},
                                                     {"ValueDataType", type(DataType::float32)},
                                                     {"Value", operators::ScalarUnion{1}}}),
                    cases);
}

TEST(ConstraintRules, ArraysOfTensorsShareProperties) {
    const Descriptor join = describe("JOIN", {{"InputTensors", TensorDescArray{{floats({2, 3}), floats({4, 3})}}},
                                              {"OutputTensor", floats({6, 3})}});
    const RuleCase cases[] = {
        {"no tensor: the constraints hold, a rule of the operator does not",
         {{"InputTensors", TensorDescArray{}}},
         "JOIN.tensorCount"},
        {"a type differs",
         {{"InputTensors", TensorDescArray{{floats({2, 3}), tensor(DataType::int8, {4, 3})}}}},
         "tensor.sameDataType"},
        {"a rank differs",
         {{"InputTensors", TensorDescArray{{floats({2, 3}), floats({4})}}}},
         "tensor.sameDimensionCount"},
        {"the output's rank differs", {{"OutputTensor", floats({1, 6, 3})}}, "tensor.sameDimensionCount"},
        {"one of the tensors is illegal",
         {{"InputTensors", TensorDescArray{{floats({2, 3}), floats({0, 3})}}}},
         "tensor.sizes"},
        {"no array", {{"InputTensors", nullptr}}, "field.required"},
    };
    expect_verdicts(join, cases);
    const auto verdict = operators::validate(
        with(join, {{"InputTensors", TensorDescArray{{floats({2, 3}), tensor(DataType::int8, {4, 3})}}}}),
        core::highest_feature_level);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->message, "InputTensors[0] has FLOAT32, but InputTensors[1] has INT8");
}

TEST(ConstraintRules, TensorsThatWereRequiredOnce) {
    const TensorDesc bytes = tensor(DataType::uint8, {1, 1, 2, 2});
    const RuleCase cases[] = {
        {"null where it may be", {}, "", {6, 2}},
        {"null before", {}, "field.required", {6, 1}, core::FeatureLevel{6, 2}},
        {"present before", {{"ZeroPointTensor", bytes}}, "", {1, 0}},
    };
    expect_verdicts(describe("ELEMENT_WISE_QUANTIZE_LINEAR", {{"InputTensor", floats({1, 1, 2, 2})},
                                                              {"ScaleTensor", floats({1, 1, 2, 2})},
                                                              {"OutputTensor", bytes}}),
                    cases);
}

TEST(ConstraintRules, ActivationsInArrays) {
    using operators::OperatorDescArray;
    const auto pair = [](operators::OperatorDesc f, operators::OperatorDesc g) {
        return std::vector<Setting>{{"ActivationDescs", OperatorDescArray{{std::move(f), std::move(g)}}}};
    };
    const RuleCase cases[] = {
        {"the usual ones", pair(activation("ACTIVATION_SIGMOID"), activation("ACTIVATION_TANH")), ""},
        {"no activation", pair(activation("ACTIVATION_SIGMOID"), activation("SLICE1")), "activation.fusable"},
        {"with a tensor",
         pair(activation("ACTIVATION_SIGMOID"), activation("ACTIVATION_TANH", {{"InputTensor", floats({1})}})),
         "activation.tensors"},
    };
    const Descriptor gru = describe(
        "GRU",
        {{"InputTensor", floats({1, 1, 1, 1})},
         {"WeightTensor", floats({1, 1, 3, 1})},
         {"RecurrenceTensor", floats({1, 1, 3, 1})},
         {"OutputSingleTensor", floats({1, 1, 1, 1})},
         {"ActivationDescs", OperatorDescArray{{activation("ACTIVATION_RELU"), activation("ACTIVATION_RELU")}}}});
    expect_verdicts(gru, cases);
}

TEST(ConstraintRules, FusedIntoGemm) {
    const auto fused = [](operators::OperatorDesc desc) {
        return std::vector<Setting>{{"FusedActivation", std::move(desc)}};
    };
    const RuleCase cases[] = {
        {"no activation by name, but fusable", fused(activation("ELEMENT_WISE_CLIP", {{"Max", 1}})), "", {6, 0}},
        {"not yet",
         fused(activation("ELEMENT_WISE_CLIP", {{"Max", 1}})),
         "activation.featureLevel",
         {5, 2},
         core::FeatureLevel{6, 0}},
        {"an activation that is not in the list", fused(activation("ACTIVATION_HARDMAX")), "activation.fusable"},
    };
    expect_verdicts(describe("GEMM", {{"ATensor", floats({1, 1, 2, 2})},
                                      {"BTensor", floats({1, 1, 2, 2})},
                                      {"OutputTensor", floats({1, 1, 2, 2})},
                                      {"Alpha", 1}}),
                    cases);
}

TEST(ConstraintRules, Sentences) {
    const struct {
        const char* op;
        const char* rule;
        const char* sentence;
    } rows[] = {
        {"PADDING1", "tensor.sameDataType", "InputTensor and OutputTensor have the same data type."},
        {"PADDING1", "field.dataType", "PaddingValueDataType is the data type of OutputTensor."},
        {"MAX_POOLING", "field.dimensionCount", "DimensionCount is the number of dimensions of InputTensor minus 2."},
        {"GATHER", "field.axis", "Axis is less than the number of dimensions of InputTensor."},
        {"LSTM", "tensor.sameDataType",
         "BiasTensor, CellMemInitTensor, HiddenInitTensor, InputTensor, OutputCellSingleTensor, OutputSequenceTensor, "
         "OutputSingleTensor, PeepholeTensor, RecurrenceTensor and WeightTensor have the same data type."},
    };
    for (const auto& [op, rule, sentence] : rows) {
        const auto rules = operators::explained_constraints(*operators::find_operator(op));
        const auto found = std::ranges::find(rules, rule, &operators::ExplainedRule::name);
        ASSERT_NE(found, rules.end()) << op << " " << rule;
        EXPECT_EQ(found->sentence, sentence);
    }
}

}  // namespace
}  // namespace dmlconform::tests::constraint_rules_test
