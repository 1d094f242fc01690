// Tests of engine/operators/rules/movement: legal descriptors of operators that copy windows, blocks or whole tensors.
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::movement_test {
namespace {

using core::FeatureLevel;
using operators::Descriptor;
using operators::TensorDescArray;

constexpr std::int64_t int_max = 2147483647;

TensorDescArray parts(std::vector<core::Dimensions> sizes) {
    TensorDescArray array;
    for (core::Dimensions& part : sizes) {
        array.items.push_back(bytes(std::move(part)));
    }
    return array;
}

TEST(Movement, Slice) {
    const Descriptor base = describe("SLICE", {{"InputTensor", bytes({4, 7})},
                                               {"OutputTensor", bytes({2, 3})},
                                               {"Offsets", {1, 0}},
                                               {"Sizes", {2, 3}},
                                               {"Strides", {2, 3}}});
    const RuleCase cases[] = {
        {"the last element is the input's last", {}, ""},
        {"one further", {{"Offsets", {2, 0}}}, "SLICE.windowInBounds"},
        {"one further in the other dimension", {{"Offsets", {1, 1}}}, "SLICE.windowInBounds"},
        {"no elements", {{"Sizes", {0, 3}}}, "SLICE.windowSize"},
        {"a stride of 0", {{"Strides", {0, 3}}}, "SLICE.stride"},
        {"a stride of 0 that is not stepped",
         {{"Sizes", {1, 3}}, {"OutputTensor", bytes({1, 3})}, {"Strides", {0, 3}}},
         "SLICE.stride"},
        {"the longest stride", {{"Sizes", {1, 3}}, {"OutputTensor", bytes({1, 3})}, {"Strides", {int_max, 3}}}, ""},
        {"one longer",
         {{"Sizes", {1, 3}}, {"OutputTensor", bytes({1, 3})}, {"Strides", {int_max + 1, 3}}},
         "SLICE.stride"},
        {"steps that wrap to the start", {{"Strides", {int_max, 3}}}, "SLICE.windowInBounds"},
        {"an offset that wraps", {{"Offsets", {uint_max, 0}}}, "SLICE.windowInBounds"},
        {"less output", {{"OutputTensor", bytes({2, 2})}}, "SLICE.outputSizes"},
        {"more output", {{"OutputTensor", bytes({2, 4})}}, "SLICE.outputSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("SLICE", {cases});
}

TEST(Movement, SliceGrad) {
    const Descriptor base = describe("SLICE_GRAD", {{"InputGradientTensor", bytes({2})},
                                                    {"OutputGradientTensor", bytes({6})},
                                                    {"InputWindowOffsets", {2}},
                                                    {"InputWindowSizes", {4}},
                                                    {"InputWindowStrides", {-3}}});
    const RuleCase cases[] = {
        {"up to the end", {}, ""},
        {"one further", {{"InputWindowOffsets", {3}}}, "SLICE_GRAD.windowInBounds"},
        {"a sum that wraps", {{"InputWindowOffsets", {uint_max}}}, "SLICE_GRAD.windowInBounds"},
        {"no window", {{"InputWindowSizes", {0}}}, "SLICE_GRAD.windowSize"},
        {"no step", {{"InputWindowStrides", {0}}}, "SLICE_GRAD.windowStride"},
        {"1 + 3 / 4 = 1", {{"InputWindowStrides", {-4}}}, "SLICE_GRAD.inputSize"},
        {"fewer gradients than the window has", {{"InputGradientTensor", bytes({1})}}, ""},
        {"the longest step", {{"InputWindowStrides", {-int_max - 1}}}, "SLICE_GRAD.inputSize"},
        {"the longest step that is not made",
         {{"InputWindowStrides", {-int_max - 1}}, {"InputGradientTensor", bytes({1})}},
         ""},
    };
    expect_verdicts(base, cases);
    expect_every_rule("SLICE_GRAD", {cases});
}

TEST(Movement, Split) {
    const Descriptor base =
        describe("SPLIT", {{"InputTensor", bytes({2, 5})}, {"OutputTensors", parts({{2, 2}, {2, 3}})}, {"Axis", 1}});
    const RuleCase cases[] = {
        {"two parts", {}, ""},
        {"one part", {{"OutputTensors", parts({{2, 5}})}}, ""},
        {"no parts", {{"OutputTensors", parts({})}}, "SPLIT.tensorCount"},
        {"less than the input", {{"OutputTensors", parts({{2, 2}, {2, 2}})}}, "SPLIT.sizesAlongAxis"},
        {"more than the input", {{"OutputTensors", parts({{2, 2}, {2, 4}})}}, "SPLIT.sizesAlongAxis"},
        {"another size", {{"OutputTensors", parts({{2, 2}, {1, 3}})}}, "SPLIT.sizes"},
        {"a sum that wraps to the input's size",
         {{"InputTensor", bytes({3})}, {"OutputTensors", parts({{2147483648}, {2147483648}, {3}})}, {"Axis", 0}},
         "SPLIT.sizesAlongAxis"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("SPLIT", {cases});
}

TEST(Movement, Join) {
    const Descriptor base =
        describe("JOIN", {{"InputTensors", parts({{2, 2}, {2, 3}})}, {"OutputTensor", bytes({2, 5})}, {"Axis", 1}});
    const RuleCase cases[] = {
        {"two parts", {}, ""},
        {"no parts", {{"InputTensors", parts({})}}, "JOIN.tensorCount"},
        {"less than the output", {{"OutputTensor", bytes({2, 4})}}, "JOIN.outputSizes"},
        {"more than the output", {{"OutputTensor", bytes({2, 6})}}, "JOIN.outputSizes"},
        {"another size than the output's", {{"OutputTensor", bytes({1, 5})}}, "JOIN.outputSizes"},
        {"another size than the first", {{"InputTensors", parts({{2, 2}, {1, 3}})}}, "JOIN.sizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("JOIN", {cases});
}

TEST(Movement, Padding) {
    for (const std::string_view op : {"PADDING", "PADDING1"}) {
        std::vector<Setting> settings{{"InputTensor", bytes({1, 1, 2, 3})},
                                      {"OutputTensor", bytes({1, 1, 3, 8})},
                                      {"StartPadding", {0, 0, 0, 4}},
                                      {"EndPadding", {0, 0, 1, 1}}};
        if (op == "PADDING1") {
            settings.emplace_back("PaddingValueDataType", 5);
            settings.emplace_back("PaddingValue", operators::FieldValue(operators::ScalarUnion{1}));
        }
        const Descriptor base = describe(op, settings);
        const std::string sizes = std::string(op) + ".outputSizes";
        const std::string mode = std::string(op) + ".paddingMode";
        const RuleCase cases[] = {
            {"a constant", {}, ""},
            {"less output", {{"OutputTensor", bytes({1, 1, 3, 7})}}, sizes},
            {"more output", {{"OutputTensor", bytes({1, 1, 3, 9})}}, sizes},
            {"a sum that wraps",
             {{"StartPadding", {0, 0, 0, uint_max}},
              {"EndPadding", {0, 0, 1, 1}},
              {"OutputTensor", bytes({1, 1, 3, 3})}},
             sizes},
            {"WRAP", {{"PaddingMode", 4}}, ""},
            {"WRAP below 6.4", {{"PaddingMode", 4}}, mode, FeatureLevel{6, 3}, FeatureLevel{6, 4}},
            {"5", {{"PaddingMode", 5}}, "field.enumeration"},
        };
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
        if (op == "PADDING") {
            const RuleCase symmetric[] = {
                {"SYMMETRIC below 3.0", {{"PaddingMode", 3}}, mode, FeatureLevel{2, 1}, FeatureLevel{3, 0}},
                {"SYMMETRIC from 3.0 on", {{"PaddingMode", 3}}, "", FeatureLevel{3, 0}},
                {"REFLECTION", {{"PaddingMode", 2}}, "", FeatureLevel{2, 1}},
            };
            expect_verdicts(base, symmetric);
        }
    }
}

TEST(Movement, Tile) {
    const Descriptor base =
        describe("TILE", {{"InputTensor", bytes({2, 3})}, {"OutputTensor", bytes({4, 3})}, {"Repeats", {2, 1}}});
    const RuleCase cases[] = {
        {"twice", {}, ""},
        {"never", {{"Repeats", {2, 0}}}, "TILE.repeats"},
        {"other sizes", {{"OutputTensor", bytes({2, 6})}}, "TILE.outputSizes"},
        {"a product that wraps to the output's size", {{"Repeats", {2147483650, 1}}}, "TILE.outputSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("TILE", {cases});
}

TEST(Movement, SpaceToDepth) {
    for (const std::string_view op : {"SPACE_TO_DEPTH", "SPACE_TO_DEPTH1"}) {
        const Descriptor base = describe(
            op, {{"InputTensor", bytes({1, 2, 4, 6})}, {"OutputTensor", bytes({1, 8, 2, 3})}, {"BlockSize", 2}});
        const std::string block = std::string(op) + ".blockSize";
        const std::string sizes = std::string(op) + ".outputSizes";
        const RuleCase cases[] = {
            {"blocks of 2", {}, ""},
            {"blocks of 0", {{"BlockSize", 0}}, block},
            {"height 5", {{"InputTensor", bytes({1, 2, 5, 6})}}, block},
            {"width 7", {{"InputTensor", bytes({1, 2, 4, 7})}}, block},
            {"more channels", {{"OutputTensor", bytes({1, 9, 2, 3})}}, sizes},
            {"the other operator's sizes",
             {{"InputTensor", bytes({1, 8, 2, 2})}, {"OutputTensor", bytes({1, 2, 4, 4})}},
             sizes},
        };
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
    }
}

TEST(Movement, DepthToSpace) {
    for (const std::string_view op : {"DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"}) {
        const Descriptor base = describe(
            op, {{"InputTensor", bytes({1, 8, 2, 3})}, {"OutputTensor", bytes({1, 2, 4, 6})}, {"BlockSize", 2}});
        const std::string block = std::string(op) + ".blockSize";
        const std::string sizes = std::string(op) + ".outputSizes";
        const RuleCase cases[] = {
            {"blocks of 2", {}, ""},
            {"blocks of 0", {{"BlockSize", 0}}, block},
            {"a square of 2^32", {{"BlockSize", 65536}}, block},
            {"6 channels", {{"InputTensor", bytes({1, 6, 2, 3})}}, block},
            {"another width", {{"OutputTensor", bytes({1, 2, 4, 5})}}, sizes},
        };
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
    }
}

TEST(Movement, Upsample) {
    const Descriptor base = describe("UPSAMPLE_2D", {{"InputTensor", real({1, 2, 3, 4})},
                                                     {"OutputTensor", real({1, 2, 6, 12})},
                                                     {"ScaleSize", operators::FieldValue(operators::Size2D{3, 2})}});
    const RuleCase cases[] = {
        {"3 by 2", {}, ""},
        {"no width", {{"ScaleSize", operators::FieldValue(operators::Size2D{0, 2})}}, "UPSAMPLE_2D.scaleSize"},
        {"no height", {{"ScaleSize", operators::FieldValue(operators::Size2D{3, 0})}}, "UPSAMPLE_2D.scaleSize"},
        {"2 by 3", {{"ScaleSize", operators::FieldValue(operators::Size2D{2, 3})}}, "UPSAMPLE_2D.outputSizes"},
        {"more channels", {{"OutputTensor", real({1, 3, 6, 12})}}, "UPSAMPLE_2D.outputSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("UPSAMPLE_2D", {cases});
}

/// The fuzzer asks for output sizes that follow from the other fields, whatever the current output's sizes are.
TEST(Movement, OutputSizes) {
    const auto level = core::highest_feature_level;
    const Descriptor tile =
        describe("TILE", {{"InputTensor", bytes({2, 3})}, {"OutputTensor", bytes({1, 1})}, {"Repeats", {2, 5}}});
    EXPECT_EQ(operators::output_sizes(tile, level), (core::Dimensions{4, 15}));
    EXPECT_EQ(operators::output_sizes(with(tile, {{"Repeats", {2, 0}}}), level), std::nullopt);
    EXPECT_EQ(operators::output_sizes(with(tile, {{"Repeats", {2, uint_max}}}), level), std::nullopt);
    EXPECT_EQ(operators::output_sizes(describe("ELEMENT_WISE_ABS", {}), level), std::nullopt);
}

}  // namespace
}  // namespace dmlconform::tests::movement_test
