// Tests of engine/operators/rules/window: legal poolings and local response normalisations.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::window_test {
namespace {

using core::DataType;
using operators::Descriptor;

/// Windows of 2 by 3 over 3 by 5 elements, with one column of padding on each side.
std::vector<Setting> windows(std::vector<Setting> more) {
    more.insert(more.end(),
                {{"Strides", {1, 2}}, {"WindowSize", {2, 3}}, {"StartPadding", {0, 1}}, {"EndPadding", {0, 1}}});
    return more;
}

TEST(WindowRules, WithoutDilations) {
    for (const std::string_view op : {"AVERAGE_POOLING", "MAX_POOLING", "MAX_POOLING1", "LP_POOLING"}) {
        SCOPED_TRACE(op);
        const std::string name(op);
        const Descriptor plain =
            describe(op, windows({{"InputTensor", real({2, 3, 3, 5})}, {"OutputTensor", real({2, 3, 2, 3})}}));
        const bool has_p = plain.schema->find_field("P") != nullptr;
        const Descriptor base = has_p ? with(plain, {{"P", 2}}) : plain;
        std::vector<RuleCase> cases{
            {"a window of no elements", {{"WindowSize", {0, 3}}}, ".window"},
            {"a stride of 0", {{"Strides", {1, 0}}}, ".window"},
            {"a window that just fits", {{"WindowSize", {3, 7}}, {"OutputTensor", real({2, 3, 1, 1})}}, ""},
            {"one that does not", {{"WindowSize", {4, 7}}, {"OutputTensor", real({2, 3, 1, 1})}}, ".windowInBounds"},
            {"the longest window", {{"WindowSize", {2, uint_max}}}, ".windowInBounds"},
            {"an output that is larger", {{"OutputTensor", real({2, 3, 2, 4})}}, ".outputSizes"},
            {"an output that is smaller", {{"OutputTensor", real({2, 3, 1, 3})}}, ".outputSizes"},
            {"another batch", {{"OutputTensor", real({1, 3, 2, 3})}}, ".outputSizes"},
            {"another channel", {{"OutputTensor", real({2, 2, 2, 3})}}, ".outputSizes"},
            {"a last window that does not fit any more",
             {{"EndPadding", {0, 0}}, {"OutputTensor", real({2, 3, 2, 2})}},
             ""},
            {"padding larger than the window", {{"EndPadding", {0, 9}}, {"OutputTensor", real({2, 3, 2, 7})}}, ""},
            {"the largest stride", {{"Strides", {uint_max, uint_max}}, {"OutputTensor", real({2, 3, 1, 1})}}, ""},
            {"the most padding", {{"StartPadding", {0, uint_max}}, {"EndPadding", {0, uint_max}}}, ".outputSizes"},
        };
        if (has_p) {
            cases.push_back({"no root", {{"P", 0}}, ".p"});
            cases.push_back({"the largest power", {{"P", double{4294967295}}}, ""});
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

TEST(WindowRules, WithDilations) {
    const Descriptor base = describe(
        "MAX_POOLING2",
        windows({{"InputTensor", real({1, 1, 3, 5})}, {"OutputTensor", real({1, 1, 1, 2})}, {"Dilations", {2, 2}}}));
    const RuleCase cases[] = {
        {"a dilation of 0", {{"Dilations", {2, 0}}}, "MAX_POOLING2.window"},
        {"a window of one element, however it is dilated",
         {{"Dilations", {uint_max, 2}}, {"WindowSize", {1, 3}}, {"OutputTensor", real({1, 1, 3, 2})}},
         ""},
        {"a dilation too much", {{"Dilations", {3, 2}}}, "MAX_POOLING2.windowInBounds"},
        {"a product beyond 32 bits",
         {{"WindowSize", {2, uint_max}}, {"Dilations", {2, uint_max}}},
         "MAX_POOLING2.windowInBounds"},
        {"sizes without the dilation", {{"OutputTensor", real({1, 1, 2, 3})}}, "MAX_POOLING2.outputSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("MAX_POOLING2", {cases});
}

TEST(WindowRules, GradientOfAverages) {
    const Descriptor base =
        describe("AVERAGE_POOLING_GRAD",
                 windows({{"InputGradientTensor", real({2, 3, 2, 3})}, {"OutputGradientTensor", real({2, 3, 3, 5})}}));
    const RuleCase cases[] = {
        {"more windows than fit", {{"InputGradientTensor", real({2, 3, 9, 9})}}, ""},
        {"a window that does not fit", {{"WindowSize", {9, uint_max}}}, ""},
        {"a window of no elements", {{"WindowSize", {0, 3}}}, "AVERAGE_POOLING_GRAD.window"},
        {"a stride of 0", {{"Strides", {0, 3}}}, "AVERAGE_POOLING_GRAD.window"},
        {"another batch", {{"InputGradientTensor", real({1, 3, 2, 3})}}, "AVERAGE_POOLING_GRAD.gradientSizes"},
        {"another channel", {{"InputGradientTensor", real({2, 1, 2, 3})}}, "AVERAGE_POOLING_GRAD.gradientSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("AVERAGE_POOLING_GRAD", {cases});
}

TEST(WindowRules, GradientOfMaxima) {
    const Descriptor base = describe("MAX_POOLING_GRAD", windows({{"InputTensor", real({2, 3, 3, 5})},
                                                                  {"InputGradientTensor", real({2, 3, 2, 3})},
                                                                  {"OutputGradientTensor", real({2, 3, 3, 5})},
                                                                  {"Dilations", {1, 1}}}));
    const RuleCase cases[] = {
        {"a window more than there are",
         {{"InputGradientTensor", real({2, 3, 2, 4})}},
         "MAX_POOLING_GRAD.gradientSizes"},
        {"one less", {{"InputGradientTensor", real({2, 3, 1, 3})}}, "MAX_POOLING_GRAD.gradientSizes"},
        {"another channel", {{"InputGradientTensor", real({2, 1, 2, 3})}}, "MAX_POOLING_GRAD.gradientSizes"},
        {"a window that does not fit", {{"Dilations", {3, 1}}}, "MAX_POOLING_GRAD.windowInBounds"},
        {"a dilation of 0", {{"Dilations", {0, 1}}}, "MAX_POOLING_GRAD.window"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("MAX_POOLING_GRAD", {cases});
}

TEST(WindowRules, QuantisedAverages) {
    const auto bytes = [](core::Dimensions sizes) { return tensor(DataType::int8, std::move(sizes)); };
    const Descriptor base =
        describe("QUANTIZED_LINEAR_AVERAGE_POOLING", windows({{"InputTensor", bytes({2, 3, 3, 5})},
                                                              {"InputScaleTensor", real({1})},
                                                              {"OutputScaleTensor", real({1, 1, 1, 1, 1})},
                                                              {"OutputTensor", bytes({2, 3, 2, 3})},
                                                              {"Dilations", {1, 1}}}));
    const std::string rule = "QUANTIZED_LINEAR_AVERAGE_POOLING.parameterSizes";
    const RuleCase cases[] = {
        {"a scale for each channel", {{"InputScaleTensor", real({1, 3, 1, 1})}}, ""},
        {"of fewer dimensions", {{"InputScaleTensor", real({1, 3})}}, ""},
        {"of one dimension", {{"InputScaleTensor", real({3})}}, rule},
        {"along another dimension", {{"OutputScaleTensor", real({3, 1, 1, 1})}}, rule},
        {"for other channels", {{"OutputScaleTensor", real({1, 2, 1, 1})}}, rule},
        {"a zero point for each channel beside one scale", {{"InputZeroPointTensor", bytes({1, 3, 1, 1})}}, ""},
        {"zero points for each element", {{"OutputZeroPointTensor", bytes({2, 3, 2, 3})}}, rule},
        {"a window that does not fit", {{"WindowSize", {4, 3}}}, "QUANTIZED_LINEAR_AVERAGE_POOLING.windowInBounds"},
        {"a window of no elements", {{"WindowSize", {2, 0}}}, "QUANTIZED_LINEAR_AVERAGE_POOLING.window"},
        {"another size", {{"OutputTensor", bytes({2, 3, 2, 4})}}, "QUANTIZED_LINEAR_AVERAGE_POOLING.outputSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("QUANTIZED_LINEAR_AVERAGE_POOLING", {cases});
}

TEST(WindowRules, LocalSize) {
    for (const std::string_view op : {"LOCAL_RESPONSE_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION_GRAD"}) {
        const bool grad = op.ends_with("GRAD");
        const Descriptor base = describe(op, grad ? std::vector<Setting>{{"InputTensor", real({1, 3, 2, 2})},
                                                                         {"InputGradientTensor", real({1, 3, 2, 2})},
                                                                         {"OutputGradientTensor", real({1, 3, 2, 2})},
                                                                         {"LocalSize", 1}}
                                                  : std::vector<Setting>{{"InputTensor", real({1, 3, 2, 2})},
                                                                         {"OutputTensor", real({1, 3, 2, 2})},
                                                                         {"LocalSize", 1}});
        const std::string rule = std::string(op) + ".localSize";
        const RuleCase cases[] = {
            {"a region of no elements", {{"LocalSize", 0}}, rule},
            {"the largest region", {{"LocalSize", double{4294967295}}}, ""},
        };
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
    }
}

TEST(WindowRules, Costs) {
    const Descriptor pooling = describe(
        "AVERAGE_POOLING", windows({{"InputTensor", real({2, 3, 3, 5})}, {"OutputTensor", real({2, 3, 2, 3})}}));
    // The windows have 2 rows and, without padding, 2, 3 and 2 columns.
    EXPECT_EQ(operators::minimum_cost(pooling).operations, 6 * (2 + 2) * (2 + 3 + 2));
    EXPECT_EQ(operators::minimum_cost(pooling).bytes, 4 * (90 + 36));
    const Descriptor local = describe("LOCAL_RESPONSE_NORMALIZATION", {{"InputTensor", real({1, 4, 3, 5})},
                                                                       {"OutputTensor", real({1, 4, 3, 5})},
                                                                       {"CrossChannel", 0},
                                                                       {"LocalSize", 4}});
    EXPECT_EQ(operators::minimum_cost(local).operations, 60 * (2 * 12 + 4)) << "no more of a region than there is";
    EXPECT_EQ(operators::minimum_cost(with(local, {{"CrossChannel", 1}})).operations, 60 * (2 * 4 + 4));
}

}  // namespace
}  // namespace dmlconform::tests::window_test
