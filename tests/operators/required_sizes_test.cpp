// Tests of the sizes that follow from other tensors and from attributes, of families, and of typed enumerators.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"
#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::required_sizes_test {
namespace {

using core::DataType;
using Sizes = std::map<std::string_view, std::vector<std::uint64_t>>;

Sizes required(const operators::Descriptor& descriptor) {
    Sizes all;
    for (const auto& [field, sizes, may_have_more] :
         operators::required_sizes(descriptor, core::highest_feature_level)) {
        all.emplace(field, sizes);
    }
    return all;
}

operators::Descriptor top_k(std::uint32_t axis, std::uint32_t k) {
    // Both outputs have wrong sizes.
    return describe("TOP_K1", {{"InputTensor", tensor(DataType::float32, {2, 3, 4})},
                               {"OutputValueTensor", tensor(DataType::float32, {1, 1, 1})},
                               {"OutputIndexTensor", tensor(DataType::uint32, {1, 1, 1})},
                               {"Axis", axis},
                               {"K", k},
                               {"AxisDirection", 1}});
}

TEST(RequiredSizes, OfBothOutputs) {
    EXPECT_EQ(required(top_k(1, 2)), (Sizes{{"OutputValueTensor", {2, 2, 4}}, {"OutputIndexTensor", {2, 2, 4}}}));
    EXPECT_EQ(required(top_k(3, 2)), Sizes()) << "there is no such axis";
}

TEST(RequiredSizes, OfTheFirstOutputWithoutARuleAboutOthers) {
    const auto tile = describe("TILE", {{"InputTensor", tensor(DataType::float32, {2, 3})},
                                        {"OutputTensor", tensor(DataType::float32, {1, 1})},
                                        {"Repeats", {2, 5}}});
    EXPECT_EQ(required(tile), (Sizes{{"OutputTensor", {4, 15}}}));
    EXPECT_EQ(required(with(tile, {{"Repeats", {2, 0}}})), Sizes());
    EXPECT_EQ(required(with(tile, {{"RepeatsCount", 3}})), Sizes());
}

TEST(RequiredSizes, NeedAnAxisOfTheInput) {
    const auto desc = tensor(DataType::float32, {2, 3});
    const auto join =
        describe("JOIN", {{"InputTensors", operators::FieldValue(operators::TensorDescArray{{desc, desc}})},
                          {"OutputTensor", tensor(DataType::float32, {1, 1})},
                          {"Axis", 1}});
    EXPECT_EQ(required(join), (Sizes{{"OutputTensor", {2, 6}}}));
    EXPECT_EQ(required(with(join, {{"Axis", 2}})), Sizes());
}

TEST(RequiredSizes, OfQuantizedConvolutions) {
    // (9 - 3) / 2 + 1 = 4 columns and (5 + 2 - 3) / 1 + 1 = 5 rows.
    const auto base =
        describe("QUANTIZED_LINEAR_CONVOLUTION", {{"InputTensor", tensor(DataType::uint8, {2, 4, 5, 9})},
                                                  {"InputScaleTensor", tensor(DataType::float32, {1, 1, 1, 1})},
                                                  {"FilterTensor", tensor(DataType::uint8, {6, 4, 3, 3})},
                                                  {"FilterScaleTensor", tensor(DataType::float32, {1, 1, 1, 1})},
                                                  {"OutputScaleTensor", tensor(DataType::float32, {1, 1, 1, 1})},
                                                  {"OutputTensor", tensor(DataType::uint8, {1, 1, 1, 1})},
                                                  {"Strides", {1, 2}},
                                                  {"Dilations", {1, 1}},
                                                  {"StartPadding", {1, 0}},
                                                  {"EndPadding", {1, 0}},
                                                  {"GroupCount", 1}});
    EXPECT_EQ(required(base), (Sizes{{"OutputTensor", {2, 6, 5, 4}}, {"BiasTensor", {1, 6, 1, 1}}}));
    EXPECT_EQ(required(with(base, {{"Strides", {1, 0}}})), Sizes());
    EXPECT_EQ(required(with(base, {{"Dilations", {1, 9}}})), Sizes()) << "the filter does not fit";
    EXPECT_EQ(required(with(base, {{"DimensionCount", 1}})), Sizes());
    const auto rows = tensor(DataType::uint8, {6, 4, 3});
    EXPECT_EQ(required(with(base, {{"FilterTensor", rows}})), Sizes());
    EXPECT_EQ(required(with(base, {{"OutputTensor", rows}})), Sizes());
    EXPECT_EQ(required(with(base, {{"InputTensor", rows}})), Sizes());
}

/// The mask's sizes follow from its type, and there are none without a type.
TEST(RequiredSizes, OfAttentionMasks) {
    const auto attention = describe("MULTIHEAD_ATTENTION", {{"QueryTensor", real({2, 3, 10})},
                                                            {"KeyTensor", real({2, 4, 10})},
                                                            {"ValueTensor", real({2, 4, 12})},
                                                            {"OutputTensor", real({2, 3, 12})},
                                                            {"HeadCount", 2}});
    EXPECT_FALSE(required(attention).contains("MaskTensor"));
    EXPECT_EQ(required(with(attention, {{"MaskType", 2}}))["MaskTensor"], (std::vector<std::uint64_t>{2, 2}));
    EXPECT_EQ(required(with(attention, {{"MaskType", 4}}))["MaskTensor"], (std::vector<std::uint64_t>{2, 2, 3, 4}));
    EXPECT_EQ(required(with(attention, {{"HeadCount", 0}})), Sizes());
    EXPECT_EQ(required(with(attention, {{"QueryTensor", nullptr}})), Sizes());
    EXPECT_EQ(required(with(attention, {{"QueryTensor", real({2, 1, 3, 10})},
                                        {"KeyTensor", real({1, 2, 4, 10})},
                                        {"ValueTensor", real({1, 2, 4, 12})},
                                        {"OutputTensor", real({1, 2, 3, 12})}})),
              Sizes())
        << "leading sizes are not 1";
}

TEST(Family, IsTheFileThatHasTheRules) {
    const auto family = [](const char* name) { return operators::family_of(*operators::find_operator(name)); };
    EXPECT_EQ(family("MAX_POOLING2"), "window");
    EXPECT_EQ(family("TOP_K"), "top_k1");
    EXPECT_EQ(family("ELEMENT_WISE_SIN"), "");
}

TEST(Enumerator, HasTheFieldsEnumeration) {
    const auto descriptor = top_k(1, 2);
    EXPECT_EQ(operators::enumerator<operators::AxisDirection>(descriptor, "AxisDirection"),
              operators::AxisDirection::decreasing);
    EXPECT_THROW((void)operators::enumerator<operators::PaddingMode>(descriptor, "AxisDirection"), std::logic_error);
    EXPECT_THROW((void)operators::enumerator<operators::AxisDirection>(descriptor, "K"), std::logic_error);
    EXPECT_THROW((void)operators::enumerator<operators::AxisDirection>(descriptor, "Direction"), std::logic_error);
}

}  // namespace
}  // namespace dmlconform::tests::required_sizes_test
