// Tests the rules that engines apply instead of the documented ones: what meets them, and the nearest that does not.
#include "engine/expectations/other_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/expectations/case_of_members.h"

namespace dmlconform::expectations::other_rules_test {
namespace {

std::string tensor(const char* sizes, const char* type = "FLOAT32") {
    return fmt::format(R"({{ "DataType": "{}", "Sizes": {} }})", type, sizes);
}

bool meets(const std::string& operator_name, const std::string& fields, std::string_view rule) {
    const cases::Case subject = case_of(
        fmt::format(R"("operator": "{}", "desc": {{ {} }}, "expectError": "E_INVALIDARG")", operator_name, fields));
    return meets_other_rule(*subject.descriptor, rule);
}

bool gathers(const char* input, const char* indices, const char* output, int axis, int index_dimensions) {
    return meets("GATHER",
                 fmt::format(R"("InputTensor": {}, "IndicesTensor": {}, "OutputTensor": {}, "Axis": {},
                                "IndexDimensions": {})",
                             tensor(input), tensor(indices, "UINT32"), tensor(output), axis, index_dimensions),
                 "gatheredSizes");
}

TEST(OtherRules, WhatIsGatheredEndsLikeTheOutput) {
    EXPECT_TRUE(gathers("[2, 4]", "[2, 3]", "[2, 3]", 1, 1));
    EXPECT_TRUE(gathers("[3, 3, 1]", "[1, 1, 3]", "[3, 3, 1]", 1, 0));
    EXPECT_FALSE(gathers("[1, 3, 5, 9]", "[1, 1, 3, 3]", "[3, 3, 3, 9]", 2, 1));
    EXPECT_FALSE(gathers("[2, 4]", "[2, 3]", "[2, 3]", 2, 1));
}

bool slices(const char* gradients, const char* output, const char* offsets, const char* windows, const char* strides) {
    return meets("SLICE_GRAD",
                 fmt::format(R"("InputGradientTensor": {}, "OutputGradientTensor": {}, "InputWindowOffsets": {},
                                "InputWindowSizes": {}, "InputWindowStrides": {})",
                             tensor(gradients), tensor(output), offsets, windows, strides),
                 "gradientsInOutput");
}

TEST(OtherRules, GradientsOfSlicesLieInTheOutput) {
    EXPECT_TRUE(slices("[2]", "[11]", "[0]", "[3]", "[3]"));
    EXPECT_TRUE(slices("[1]", "[6]", "[4]", "[0]", "[4]")) << "a window may have no element";
    EXPECT_FALSE(slices("[5]", "[5]", "[1]", "[4]", "[-1]")) << "the fifth is at 1 + 4";
    EXPECT_TRUE(slices("[4]", "[5]", "[1]", "[4]", "[-1]"));
    EXPECT_FALSE(slices("[1]", "[4]", "[2]", "[3]", "[1]")) << "the window ends behind the output";
    EXPECT_FALSE(slices("[1, 3]", "[4, 4]", "[0, 0]", "[1, 1]", "[1, 2]")) << "the second dimension counts as well";
}

bool gathers_batches(const char* input, const char* indices, const char* output, int input_count, int indices_count,
                     int batches) {
    return meets(
        "GATHER_ND1",
        fmt::format(R"("InputTensor": {}, "IndicesTensor": {}, "OutputTensor": {}, "InputDimensionCount": {},
                                "IndicesDimensionCount": {}, "BatchDimensionCount": {})",
                    tensor(input), tensor(indices, "UINT32"), tensor(output), input_count, indices_count, batches),
        "batchesOfIndices");
}

TEST(OtherRules, BatchesAreThoseOfTheIndices) {
    EXPECT_TRUE(gathers_batches("[2, 3]", "[1, 1]", "[1, 1]", 2, 2, 1));
    EXPECT_TRUE(gathers_batches("[4, 3, 1, 18, 5]", "[1, 1, 3, 1, 1]", "[3, 1, 1, 18, 5]", 5, 3, 1));
    EXPECT_FALSE(gathers_batches("[2, 5]", "[3, 1]", "[1, 2]", 2, 2, 1));
    EXPECT_FALSE(gathers_batches("[2, 3]", "[1, 2]", "[1, 1]", 2, 2, 1)) << "one dimension cannot have two indices";
    EXPECT_FALSE(gathers_batches("[2, 3]", "[1, 1]", "[1, 1]", 2, 2, 2));
    EXPECT_FALSE(gathers_batches("[2, 3]", "[1, 1]", "[1, 1]", 3, 2, 1));
}

bool scatters(const char* input, const char* indices, const char* updates, int indices_count) {
    return meets("SCATTER_ND",
                 fmt::format(R"("InputTensor": {0}, "IndicesTensor": {1}, "UpdatesTensor": {2}, "OutputTensor": {0},
                                "InputDimensionCount": 2, "IndicesDimensionCount": {3})",
                             tensor(input), tensor(indices, "UINT32"), tensor(updates), indices_count),
                 "updatesOfAnyRank");
}

TEST(OtherRules, UpdatesMayHaveMoreLeadingOnes) {
    EXPECT_TRUE(scatters("[12, 3]", "[1, 4, 2]", "[1, 4]", 2));
    EXPECT_TRUE(scatters("[12, 3]", "[1, 4, 2]", "[1, 1, 4]", 2));
    EXPECT_TRUE(scatters("[18, 3]", "[1, 2]", "[1, 1, 1]", 1)) << "a single tuple picks one element";
    EXPECT_FALSE(scatters("[3, 5]", "[1, 1]", "[5]", 2)) << "the size of 1 is that of the indices";
    EXPECT_FALSE(scatters("[12, 3]", "[1, 4, 2]", "[1, 5]", 2));
    EXPECT_FALSE(scatters("[12, 3]", "[1, 4, 3]", "[1, 4]", 2));
}

bool pools(const char* gradient, const char* start, const char* end, const char* window, const char* dilations) {
    return meets("MAX_POOLING_GRAD",
                 fmt::format(R"("InputTensor": {0}, "InputGradientTensor": {1}, "OutputGradientTensor": {0},
                                "Strides": [1, 2], "WindowSize": {4}, "StartPadding": {2}, "EndPadding": {3},
                                "Dilations": {5})",
                             tensor("[1, 1, 4, 5]"), tensor(gradient), start, end, window, dilations),
                 "pooledSizesIn32Bits");
}

TEST(OtherRules, PooledSizesWrapAndAreAtLeastOne) {
    EXPECT_TRUE(pools("[1, 1, 3, 3]", "[4294967295, 0]", "[0, 0]", "[1, 1]", "[1, 1]"));
    EXPECT_TRUE(pools("[1, 1, 3, 1]", "[4294967295, 0]", "[0, 4294967295]", "[1, 5]", "[1, 1]"));
    EXPECT_TRUE(pools("[1, 1, 5, 3]", "[0, 0]", "[0, 0]", "[2, 1]", "[4294967295, 1]")) << "no elements: five fit";
    EXPECT_TRUE(pools("[1, 1, 4, 3]", "[0, 0]", "[0, 0]", "[3, 1]", "[2147483648, 1]")) << "one element: four fit";
    EXPECT_FALSE(pools("[1, 1, 4, 3]", "[4294967295, 0]", "[0, 0]", "[1, 1]", "[1, 1]"));
    EXPECT_FALSE(pools("[1, 2, 3, 3]", "[4294967295, 0]", "[0, 0]", "[1, 1]", "[1, 1]"));
}

bool unfolds(const char* image, const char* unfolded, const char* windows, const char* strides, const char* dilations,
             const char* padding, const char* operator_name = "UNFOLD", const char* rule = "blocksOfZeroDilations") {
    const bool folds = operator_name == std::string_view("FOLD");
    return meets(operator_name,
                 fmt::format(R"("InputTensor": {}, "OutputTensor": {}, "WindowSizes": {}, "Strides": {},
                                "Dilations": {}, "StartPadding": {}, "EndPadding": {})",
                             tensor(folds ? unfolded : image), tensor(folds ? image : unfolded), windows, strides,
                             dilations, padding, padding),
                 rule);
}

TEST(OtherRules, AWindowWithoutDilationSpansOneElement) {
    EXPECT_TRUE(unfolds("[1, 1, 3, 1]", "[1, 2, 2]", "[2]", "[1]", "[1]", "[0]"));
    EXPECT_TRUE(unfolds("[1, 1, 3]", "[1, 2, 3]", "[2]", "[1]", "[0]", "[0]"));
    EXPECT_TRUE(unfolds("[1, 1, 3]", "[1, 2, 3]", "[2]", "[1]", "[0]", "[0]", "FOLD"));
    EXPECT_FALSE(unfolds("[1, 1, 3]", "[1, 2, 2]", "[2]", "[1]", "[0]", "[0]"));
    EXPECT_FALSE(unfolds("[1, 1, 3]", "[1, 1, 3]", "[1]", "[0]", "[1]", "[0]"));
    EXPECT_FALSE(unfolds("[1, 1, 3]", "[1, 4, 1]", "[4]", "[1]", "[1]", "[0]"));
}

TEST(OtherRules, AllWindowsButOneFit) {
    const auto fit = [](const char* image, const char* windows, const char* name = "UNFOLD") {
        return unfolds(image, "[1, 1, 1]", windows, "[1, 1]", "[2, 1]", "[0, 1]", name, "windowTooMany");
    };
    EXPECT_TRUE(fit("[4, 5, 3]", "[2, 9]"));
    EXPECT_TRUE(fit("[4, 5, 3]", "[2, 9]", "FOLD"));
    EXPECT_FALSE(fit("[4, 5, 2]", "[2, 9]")) << "with a dilation of 2, the window spans three elements";
    EXPECT_FALSE(fit("[4, 5, 3, 9]", "[2, 2]")) << "there is a spatial dimension for each window";
    EXPECT_FALSE(fit("[4, 5]", "[1, 1]"));
    const auto fit_of = [](const char* image, const char* ones) {
        return unfolds(image, "[1, 1, 1]", ones, ones, ones, ones, "UNFOLD", "windowTooMany");
    };
    EXPECT_TRUE(fit_of("[1, 1, 1, 1, 1, 1, 1]", "[1, 1, 1, 1, 1, 1]"));
    EXPECT_FALSE(fit_of("[1, 1, 1, 1, 1, 1, 1, 1]", "[1, 1, 1, 1, 1, 1, 1]")) << "six spatial dimensions";
}

bool convolves(const char* output, const char* padding, const char* direction, int groups = 1) {
    return meets(
        "CONVOLUTION",
        fmt::format(R"("InputTensor": {}, "FilterTensor": {}, "OutputTensor": {}, "Mode": "CROSS_CORRELATION",
                                "Direction": "{}", "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0],
                                "EndPadding": [0, 0], "OutputPadding": {}, "GroupCount": {})",
                    tensor("[1, 4, 5, 5]"), tensor("[4, 3, 2, 2]"), tensor(output), direction, padding, groups),
        "roomForOutputPadding");
}

TEST(OtherRules, OutputsAreLargerThanTheirPadding) {
    EXPECT_TRUE(convolves("[1, 4, 3, 1]", "[2, 0]", "FORWARD"));
    EXPECT_FALSE(convolves("[1, 4, 3, 1]", "[3, 0]", "FORWARD"));
    EXPECT_FALSE(convolves("[1, 4, 3, 1]", "[0, 1]", "FORWARD"));
    EXPECT_FALSE(convolves("[1, 3, 3, 1]", "[2, 0]", "FORWARD"));
    EXPECT_TRUE(convolves("[1, 6, 3, 1]", "[2, 0]", "BACKWARD", 2));
    EXPECT_FALSE(convolves("[1, 4, 3, 1]", "[2, 0]", "BACKWARD", 2));
    EXPECT_FALSE(convolves("[2, 4, 3, 1]", "[2, 0]", "FORWARD"));
}

bool convolves_integers(const char* input, const char* filter, const char* zero_point, const std::string& output,
                        int groups, const char* rule = "channelsOfAnyRank") {
    return meets("CONVOLUTION_INTEGER",
                 fmt::format(R"("InputTensor": {}, "FilterTensor": {}, "FilterZeroPointTensor": {},
                                "OutputTensor": {}, "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0],
                                "EndPadding": [0, 0], "GroupCount": {})",
                             tensor(input, "INT8"), tensor(filter, "INT8"), tensor(zero_point, "INT8"), output, groups),
                 rule);
}

TEST(OtherRules, ChannelsAreTheSecondSizesOfAnyRank) {
    const std::string output = tensor("[2, 6, 1, 4]", "INT32");
    EXPECT_TRUE(convolves_integers("[2, 4, 3, 5]", "[6, 2, 1]", "[1, 1]", output, 2));
    EXPECT_TRUE(convolves_integers("[2, 4, 5]", "[6, 2, 1, 1]", "[1, 6]", output, 2));
    EXPECT_FALSE(convolves_integers("[4, 3, 5]", "[6, 2, 1, 1]", "[1, 1]", output, 2)) << "the batches are missing";
    EXPECT_FALSE(convolves_integers("[2, 4, 3, 5]", "[2, 6, 1]", "[1, 1]", output, 2));
    EXPECT_FALSE(convolves_integers("[2, 4, 3, 5]", "[6, 2, 1]", "[1, 1]", output, 1));
    EXPECT_FALSE(convolves_integers("[2, 4, 3, 5]", "[6, 2, 1]", "[1, 1]", output, 0));
    EXPECT_FALSE(convolves_integers("[2, 4, 3, 5]", "[6, 1, 1]", "[1, 1]", output, 4)) << "6 filters in 4 groups";
    EXPECT_FALSE(convolves_integers("[2, 4, 3, 5]", "[6, 2, 1]", "[1, 1, 6, 1]", output, 2));
    EXPECT_FALSE(convolves_integers("[2, 4, 3, 5]", "[6, 2, 1]", "[6]", output, 2));
}

bool copies(const char* input, const char* output) {
    return meets(
        "ELEMENT_WISE_IDENTITY",
        fmt::format(R"("InputTensor": {}, "OutputTensor": {{ "DataType": "FLOAT32", {} }})", tensor(input), output),
        "distinctOutputStrides");
}

TEST(OtherRules, OutputStridesMayBeAllThatIsWrong) {
    EXPECT_TRUE(copies("[2, 5]", R"("Sizes": [2, 5], "Strides": [4, 2])"));
    EXPECT_TRUE(copies("[2, 1, 5]", R"("Sizes": [2, 1, 5], "Strides": [4, 2, 2])"));
    EXPECT_FALSE(copies("[2, 5]", R"("Sizes": [5, 2], "Strides": [1, 2])"));
    EXPECT_FALSE(copies("[2, 5]", R"("Sizes": [2, 5], "Strides": [2, 2])"));
    EXPECT_FALSE(copies("[2, 5]", R"("Sizes": [2, 5], "Strides": [0, 2])"));
    EXPECT_FALSE(copies("[4, 5]", R"("Sizes": [4, 5], "Strides": [3, 2])")) << "18 addresses for 20 elements";
    EXPECT_FALSE(copies("[2, 5]", R"("Sizes": [2, 5], "Strides": [4, 2], "GuaranteedBaseOffsetAlignment": 3)"));
}

std::string strided(const char* sizes, const char* strides, const char* type) {
    return fmt::format(R"({{ "DataType": "{}", "Sizes": {}, "Strides": {} }})", type, sizes, strides);
}

bool convolves_to(const std::string& output, const char* output_padding) {
    return meets("CONVOLUTION",
                 fmt::format(R"("InputTensor": {}, "FilterTensor": {}, "OutputTensor": {},
                                "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1], "Dilations": [1],
                                "StartPadding": [0], "EndPadding": [0], "OutputPadding": {}, "GroupCount": 1)",
                             tensor("[2, 1, 5]"), tensor("[1, 1, 1]"), output, output_padding),
                 "distinctOutputStrides");
}

TEST(OtherRules, ConvolutionsMayHaveOtherOutputSizesBesideTheirStrides) {
    EXPECT_TRUE(convolves_to(strided("[2, 1, 5]", "[4, 2, 2]", "FLOAT32"), "[0]"));
    EXPECT_TRUE(convolves_to(strided("[2, 1, 3]", "[4, 1, 2]", "FLOAT32"), "[0]")) << "the width should be 5";
    EXPECT_FALSE(convolves_to(strided("[2, 1, 3]", "[4, 1, 2]", "FLOAT32"), "[3]"));
    EXPECT_FALSE(convolves_to(strided("[2, 2, 3]", "[4, 3, 2]", "FLOAT32"), "[0]"));
    const auto convolves_integers_to = [](const char* sizes, const char* strides) {
        return convolves_integers("[2, 2, 1, 5]", "[1, 2, 1, 1]", "[1]", strided(sizes, strides, "INT32"), 1,
                                  "distinctOutputStrides");
    };
    EXPECT_TRUE(convolves_integers_to("[2, 1, 1, 5]", "[4, 2, 2, 2]"));
    EXPECT_TRUE(convolves_integers_to("[2, 1, 1, 3]", "[4, 1, 1, 2]")) << "the width should be 5";
    EXPECT_FALSE(convolves_integers_to("[2, 2, 1, 3]", "[4, 3, 1, 2]")) << "the filter has one channel";
}

bool attends(const char* query, const char* key, const char* output, int heads) {
    return meets("MULTIHEAD_ATTENTION",
                 fmt::format(R"("QueryTensor": {}, "KeyTensor": {}, "ValueTensor": {}, "OutputTensor": {}, "Scale": 1,
                                "MaskFilterValue": -1, "HeadCount": {}, "MaskType": "NONE")",
                             tensor(query), tensor(key), tensor(key), tensor(output), heads),
                 "wholeHeads");
}

TEST(OtherRules, QueriesMayHaveARestBesideTheirHeads) {
    EXPECT_TRUE(attends("[1, 3, 11]", "[1, 3, 8]", "[1, 3, 8]", 4));
    EXPECT_FALSE(attends("[1, 3, 12]", "[1, 3, 8]", "[1, 3, 8]", 4));
    EXPECT_FALSE(attends("[1, 3, 11]", "[1, 3, 8]", "[1, 2, 8]", 4));
    EXPECT_FALSE(attends("[1, 3, 3]", "[1, 3, 4]", "[1, 3, 4]", 4));
    EXPECT_FALSE(attends("[1, 3, 11]", "[1, 3, 8]", "[1, 3, 8]", 0));
}

bool averages(const char* scale, const char* zero_point, const char* output, const char* type = "INT8") {
    return meets("QUANTIZED_LINEAR_AVERAGE_POOLING",
                 fmt::format(R"("InputTensor": {}, "InputScaleTensor": {}, "InputZeroPointTensor": {},
                                "OutputScaleTensor": {}, "OutputTensor": {}, "Strides": [1, 1], "WindowSize": [1, 1],
                                "StartPadding": [0, 0], "EndPadding": [0, 0], "Dilations": [1, 1],
                                "IncludePadding": false)",
                             tensor("[1, 3, 2, 2]", "INT8"), tensor(scale), tensor(zero_point, "INT8"),
                             tensor("[1, 1, 1, 1]"), tensor(output, type)),
                 "parametersOfAnySize");
}

TEST(OtherRules, ScalesHaveTheSizesOfTheirZeroPoints) {
    EXPECT_TRUE(averages("[2, 1, 1, 1]", "[2, 1, 1, 1]", "[1, 3, 2, 2]"));
    EXPECT_FALSE(averages("[2, 1, 1, 1]", "[1, 1, 1, 1]", "[1, 3, 2, 2]"));
    EXPECT_FALSE(averages("[2, 0, 1, 1]", "[2, 0, 1, 1]", "[1, 3, 2, 2]"));
    EXPECT_FALSE(averages("[2, 1, 1, 1]", "[2, 1, 1, 1]", "[1, 2, 2, 2]")) << "the channels are others";
    EXPECT_FALSE(averages("[2, 1, 1, 1]", "[2, 1, 1, 1]", "[1, 3, 2, 2]", "UINT8"));
}

bool quantises(const char* input, const char* scale) {
    return meets("QUANTIZE",
                 fmt::format(R"("InputTensor": {}, "QuantizationType": "SCALE", "QuantizationTensors": [{}],
                                "OutputTensor": {})",
                             tensor(input), tensor(scale), tensor(input, "INT8")),
                 "scalesOfMoreDimensions");
}

TEST(OtherRules, ScalesOfMoreDimensionsAreComparedFromTheFirstOneOn) {
    EXPECT_TRUE(quantises("[4]", "[4, 1]"));
    EXPECT_TRUE(quantises("[11, 1, 5]", "[1, 1, 1, 5]"));
    EXPECT_FALSE(quantises("[5, 1, 3]", "[1, 5, 1, 1]"));
    EXPECT_FALSE(quantises("[4, 4, 5]", "[1, 1, 4, 5]"));
    EXPECT_FALSE(quantises("[4, 1]", "[4, 1]"));
    EXPECT_FALSE(quantises("[4]", "[0, 1]"));
}

TEST(OtherRules, AreMetByTheirOperatorsAlone) {
    EXPECT_FALSE(meets("ACTIVATION_IDENTITY", R"("InputTensor": null, "OutputTensor": null)", "gatheredSizes"));
    EXPECT_FALSE(meets("GATHER",
                       R"("InputTensor": null, "IndicesTensor": null, "OutputTensor": null, "Axis": 0,
                          "IndexDimensions": 1)",
                       "gatheredSizes"));
    std::set<std::string_view> names;
    for (const OtherRule& rule : other_rules()) {
        EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
        for (const std::string_view operator_name : rule.operators) {
            const auto* const schema = operators::find_operator(std::string(operator_name));
            ASSERT_NE(schema, nullptr) << operator_name;
            EXPECT_EQ(find_other_rule(*schema, rule.name), &rule);
            EXPECT_EQ(find_other_rule(*schema, "noSuchRule"), nullptr);
        }
    }
}

}  // namespace
}  // namespace dmlconform::expectations::other_rules_test
