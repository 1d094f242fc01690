// Tests of engine/operators/rules/product: legal matrix products and convolutions.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::product_test {
namespace {

using core::DataType;
using operators::Descriptor;

TEST(ProductRules, Gemm) {
    const Descriptor base = describe("GEMM", {{"ATensor", real({2, 3, 4, 5})},
                                              {"BTensor", real({2, 3, 5, 6})},
                                              {"OutputTensor", real({2, 3, 4, 6})},
                                              {"TransA", 0},
                                              {"TransB", 0},
                                              {"Alpha", 1},
                                              {"Beta", 1}});
    const RuleCase cases[] = {
        {"A given transposed", {{"ATensor", real({2, 3, 5, 4})}, {"TransA", 1}}, ""},
        {"A transposed that is not", {{"TransA", 1}}, "GEMM.innerSizes"},
        {"B given transposed", {{"BTensor", real({2, 3, 6, 5})}, {"TransB", 1}}, ""},
        {"B transposed that is not", {{"TransB", 1}}, "GEMM.innerSizes"},
        {"another batch of A", {{"ATensor", real({1, 3, 4, 5})}}, "GEMM.batches"},
        {"another channel of B", {{"BTensor", real({2, 1, 5, 6})}}, "GEMM.batches"},
        {"other rows", {{"OutputTensor", real({2, 3, 5, 6})}}, "GEMM.outputSizes"},
        {"other columns", {{"OutputTensor", real({2, 3, 4, 5})}}, "GEMM.outputSizes"},
        {"another batch of the output", {{"OutputTensor", real({1, 3, 4, 6})}}, "GEMM.outputSizes"},
        {"C as large as the output", {{"CTensor", real({2, 3, 4, 6})}}, ""},
        {"C of one row", {{"CTensor", real({2, 3, 1, 6})}}, "tensor.sameSizes"},
        {"softmax of several matrices", {{"FusedActivation", activation("ACTIVATION_SOFTMAX")}}, "GEMM.fusedAxes"},
        {"softmax of one",
         {{"ATensor", real({1, 1, 4, 5})},
          {"BTensor", real({1, 1, 5, 6})},
          {"OutputTensor", real({1, 1, 4, 6})},
          {"FusedActivation", activation("ACTIVATION_SOFTMAX")}},
         ""},
        {"softmax over the first and the last dimension",
         {{"FusedActivation", activation("ACTIVATION_SOFTMAX1", {{"Axes", {0, 3}}, {"AxisCount", 2}})}},
         ""},
        {"softmax over another dimension",
         {{"FusedActivation", activation("ACTIVATION_SOFTMAX1", {{"Axes", {0, 4}}, {"AxisCount", 2}})}},
         "GEMM.fusedAxes"},
        {"another activation", {{"FusedActivation", activation("ACTIVATION_RELU")}}, ""},
    };
    expect_verdicts(base, cases);
    expect_every_rule("GEMM", {cases});
}

/// A filter of 2 by 3 over 4 by 9 elements, with one column of padding at the start.
const std::vector<Setting> plain_geometry{
    {"Strides", {1, 2}}, {"Dilations", {1, 1}}, {"StartPadding", {0, 1}}, {"EndPadding", {0, 0}}, {"GroupCount", 1}};

TEST(ProductRules, ConvolutionForward) {
    const Descriptor base =
        with(plain_convolution(real({2, 6, 4, 9}), real({4, 6, 2, 3}), real({2, 4, 3, 4})), plain_geometry);
    const RuleCase cases[] = {
        {"too few entries",
         {{"Strides", {1}},
          {"Dilations", {1}},
          {"StartPadding", {0}},
          {"EndPadding", {0}},
          {"OutputPadding", {0}},
          {"DimensionCount", 1}},
         "CONVOLUTION.dimensionCount"},
        {"no groups", {{"GroupCount", 0}}, "CONVOLUTION.groupCount"},
        {"groups that do not divide the filters",
         {{"GroupCount", 3}, {"FilterTensor", real({4, 2, 2, 3})}},
         "CONVOLUTION.groupCount"},
        {"two groups", {{"GroupCount", 2}, {"FilterTensor", real({4, 3, 2, 3})}}, ""},
        {"filters for one group of two", {{"GroupCount", 2}}, "CONVOLUTION.inputChannels"},
        {"more channels than any tensor has", {{"GroupCount", uint_max}}, "CONVOLUTION.groupCount"},
        {"a stride of 0", {{"Strides", {0, 2}}}, "CONVOLUTION.strideAndDilation"},
        {"a dilation of 0", {{"Dilations", {1, 0}}}, "CONVOLUTION.strideAndDilation"},
        {"a filter that just fits", {{"Dilations", {3, 1}}, {"OutputTensor", real({2, 4, 1, 4})}}, ""},
        {"one that does not", {{"Dilations", {4, 1}}, {"OutputTensor", real({2, 4, 1, 4})}}, "CONVOLUTION.filterFits"},
        {"the longest filter", {{"Dilations", {uint_max, uint_max}}}, "CONVOLUTION.filterFits"},
        {"the largest stride", {{"Strides", {uint_max, uint_max}}, {"OutputTensor", real({2, 4, 1, 1})}}, ""},
        {"the most padding",
         {{"StartPadding", {uint_max, 0}}, {"EndPadding", {uint_max, 0}}},
         "CONVOLUTION.outputSizes"},
        {"another batch", {{"OutputTensor", real({1, 4, 3, 4})}}, "CONVOLUTION.outputSizes"},
        {"other channels", {{"OutputTensor", real({2, 6, 3, 4})}}, "CONVOLUTION.outputSizes"},
        {"output padding", {{"OutputPadding", {1, 2}}, {"OutputTensor", real({2, 4, 4, 6})}}, ""},
        {"output padding that is not there", {{"OutputPadding", {1, 0}}}, "CONVOLUTION.outputSizes"},
        {"a bias", {{"BiasTensor", real({1, 4, 1, 1})}}, ""},
        {"a bias for the input's channels", {{"BiasTensor", real({1, 6, 1, 1})}}, "CONVOLUTION.biasSizes"},
        {"one bias for all", {{"BiasTensor", real({1, 1, 1, 1})}}, "CONVOLUTION.biasSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("CONVOLUTION", {cases});
}

TEST(ProductRules, ConvolutionBackward) {
    const Descriptor base =
        with(with(plain_convolution(real({2, 4, 3, 4}), real({4, 6, 2, 3}), real({2, 6, 4, 8})), plain_geometry),
             {{"Direction", 1}});
    const RuleCase cases[] = {
        {"two groups", {{"GroupCount", 2}, {"FilterTensor", real({4, 3, 2, 3})}}, ""},
        {"groups that do not divide the input's channels",
         {{"GroupCount", 3}, {"FilterTensor", real({4, 2, 2, 3})}},
         "CONVOLUTION.groupCount"},
        {"as many filters as outputs", {{"FilterTensor", real({6, 4, 2, 3})}}, "CONVOLUTION.inputChannels"},
        {"one element that is left", {{"EndPadding", {3, 0}}, {"OutputTensor", real({2, 6, 1, 8})}}, ""},
        {"none", {{"EndPadding", {4, 0}}, {"OutputTensor", real({2, 6, 1, 8})}}, "CONVOLUTION.filterFits"},
        {"none but output padding",
         {{"EndPadding", {4, 0}}, {"OutputPadding", {1, 0}}, {"OutputTensor", real({2, 6, 1, 8})}},
         "CONVOLUTION.filterFits"},
        {"output padding", {{"OutputPadding", {0, 1}}, {"OutputTensor", real({2, 6, 4, 9})}}, ""},
        {"more than any tensor has",
         {{"Strides", {uint_max, uint_max}}, {"Dilations", {uint_max, uint_max}}},
         "CONVOLUTION.outputSizes"},
        {"a bias for the output's channels", {{"BiasTensor", real({1, 6, 1, 1})}}, ""},
        {"a bias for the filters", {{"BiasTensor", real({1, 4, 1, 1})}}, "CONVOLUTION.biasSizes"},
    };
    expect_verdicts(base, cases);
}

TEST(ProductRules, ConvolutionInteger) {
    const Descriptor base = with(describe("CONVOLUTION_INTEGER", plain_geometry),
                                 {{"InputTensor", bytes({2, 6, 4, 9})},
                                  {"FilterTensor", bytes({4, 6, 2, 3})},
                                  {"OutputTensor", tensor(DataType::int32, {2, 4, 3, 4})}});
    const std::vector<Setting> flat{{"InputTensor", bytes({2, 6, 9})},
                                    {"FilterTensor", bytes({4, 6, 3})},
                                    {"OutputTensor", tensor(DataType::int32, {2, 4, 4})}};
    const auto flat_with = [&](std::vector<Setting> more) {
        more.insert(more.end(), flat.begin(), flat.end());
        return more;
    };
    const RuleCase cases[] = {
        {"three dimensions, as of height 1", flat, ""},
        {"with padding of the height", flat_with({{"StartPadding", {1, 1}}, {"EndPadding", {0, 0}}}),
         "CONVOLUTION_INTEGER.heightPadding"},
        {"with one entry",
         flat_with(
             {{"Strides", {2}}, {"Dilations", {1}}, {"StartPadding", {1}}, {"EndPadding", {0}}, {"DimensionCount", 1}}),
         "CONVOLUTION_INTEGER.dimensionCount"},
        {"no groups", {{"GroupCount", 0}}, "CONVOLUTION_INTEGER.groupCount"},
        {"other channels", {{"InputTensor", bytes({2, 5, 4, 9})}}, "CONVOLUTION_INTEGER.inputChannels"},
        {"a stride of 0", {{"Strides", {0, 2}}}, "CONVOLUTION_INTEGER.strideAndDilation"},
        {"a filter that does not fit", {{"Dilations", {4, 1}}}, "CONVOLUTION_INTEGER.filterFits"},
        {"another output",
         {{"OutputTensor", tensor(DataType::int32, {2, 4, 3, 5})}},
         "CONVOLUTION_INTEGER.outputSizes"},
        {"a zero point of one element", {{"FilterZeroPointTensor", bytes({1})}}, ""},
        {"one for each filter", {{"FilterZeroPointTensor", bytes({1, 4})}}, ""},
        {"one for each filter along four dimensions", {{"FilterZeroPointTensor", bytes({1, 4, 1, 1})}}, ""},
        {"one for each filter along another dimension",
         {{"FilterZeroPointTensor", bytes({4, 1, 1, 1})}},
         "CONVOLUTION_INTEGER.parameterSizes"},
        {"one dimension for the filters",
         {{"FilterZeroPointTensor", bytes({4})}},
         "CONVOLUTION_INTEGER.parameterSizes"},
        {"one for each channel of the input",
         {{"InputZeroPointTensor", bytes({1, 6, 1, 1})}},
         "CONVOLUTION_INTEGER.parameterSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("CONVOLUTION_INTEGER", {cases});
}

TEST(ProductRules, ProductsOfIntegers) {
    for (const std::string_view op :
         {"MATRIX_MULTIPLY_INTEGER", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", "QUANTIZED_LINEAR_MATRIX_MULTIPLY"}) {
        SCOPED_TRACE(op);
        const std::string name(op);
        const DataType output = name.ends_with("INTEGER")    ? DataType::int32
                                : name.ends_with("TO_FLOAT") ? DataType::float32
                                                             : DataType::uint8;
        Descriptor base = describe(op, {{"ATensor", bytes({2, 4, 5})},
                                        {"BTensor", bytes({2, 5, 6})},
                                        {"OutputTensor", tensor(output, {2, 4, 6})}});
        for (const std::string_view scale : {"AScaleTensor", "BScaleTensor", "OutputScaleTensor"}) {
            if (base.schema->find_field(scale) != nullptr) {
                base = with(base, {{scale, real({1, 1, 1})}});
            }
        }
        std::vector<RuleCase> cases{
            {"another batch", {{"BTensor", bytes({1, 5, 6})}}, ".batches"},
            {"other inner sizes", {{"BTensor", bytes({2, 4, 6})}}, ".innerSizes"},
            {"other columns", {{"OutputTensor", tensor(output, {2, 4, 5})}}, ".outputSizes"},
            {"a zero point for each row", {{"AZeroPointTensor", bytes({1, 4, 1})}}, ""},
            {"for each column of A", {{"AZeroPointTensor", bytes({1, 1, 5})}}, ".parameterSizes"},
            {"for each batch", {{"AZeroPointTensor", bytes({2, 1, 1})}}, ".parameterSizes"},
            {"for each column", {{"BZeroPointTensor", bytes({1, 1, 6})}}, ""},
            {"for each row of B", {{"BZeroPointTensor", bytes({1, 5, 1})}}, ".parameterSizes"},
        };
        if (name.ends_with("INTEGER")) {
            cases.push_back({"a zero point of one dimension", {{"BZeroPointTensor", bytes({6})}}, ""});
            cases.push_back({"for rows in one dimension", {{"AZeroPointTensor", bytes({4})}}, ".parameterSizes"});
        } else {
            cases.push_back({"a scale for each row", {{"AScaleTensor", real({1, 4, 1})}}, ""});
            cases.push_back({"a scale for each row of B", {{"BScaleTensor", real({1, 5, 1})}}, ".parameterSizes"});
        }
        if (output == DataType::uint8) {
            cases.push_back({"an output's scale for each row", {{"OutputScaleTensor", real({1, 4, 1})}}, ""});
            cases.push_back(
                {"for each column of it", {{"OutputZeroPointTensor", bytes({1, 1, 6})}}, ".parameterSizes"});
        }
        std::vector<std::string> names;
        names.reserve(cases.size());
        for (RuleCase& row : cases) {
            names.push_back(row.rule.empty() ? "" : name + std::string(row.rule));
            row.rule = names.back();
        }
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
    }
}

}  // namespace
}  // namespace dmlconform::tests::product_test
