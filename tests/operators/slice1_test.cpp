// Tests of engine/operators/rules/slice1: each rule at its boundary.
#include <gtest/gtest.h>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::slice1_test {
namespace {

using core::DataType;

/// The window {1, 4, 3} of an input {2, 4, 6} with strides {1, -2, 2} has at most {1, 2, 2} elements.
operators::Descriptor base() {
    return describe("SLICE1", {{"InputTensor", tensor(DataType::int8, {2, 4, 6})},
                               {"OutputTensor", tensor(DataType::int8, {1, 2, 2})},
                               {"InputWindowOffsets", {1, 0, 3}},
                               {"InputWindowSizes", {1, 4, 3}},
                               {"InputWindowStrides", {1, -2, 2}}});
}

std::vector<Setting> output(core::Dimensions sizes) {
    return {{"OutputTensor", tensor(DataType::int8, std::move(sizes))}};
}

TEST(Slice1, Rules) {
    constexpr std::int64_t int_min = -2147483648;
    const RuleCase cases[] = {
        {"arrays shorter than the rank",
         {{"InputWindowOffsets", {0, 0}}, {"InputWindowSizes", {1, 1}}, {"InputWindowStrides", {1, 1}}},
         "SLICE1.dimensionCount"},
        {"arrays longer than the rank",
         {{"InputWindowOffsets", {0, 0, 0, 0}},
          {"InputWindowSizes", {1, 1, 1, 1}},
          {"InputWindowStrides", {1, 1, 1, 1}}},
         "SLICE1.dimensionCount"},
        {"ranks differ", output({2, 2}), "tensor.sameDimensionCount"},
        {"types differ", {{"OutputTensor", tensor(DataType::uint8, {1, 2, 2})}}, "tensor.sameDataType"},

        {"empty window", {{"InputWindowSizes", {1, 0, 3}}}, "SLICE1.windowSize"},
        {"window up to the input's end", {{"InputWindowOffsets", {1, 0, 3}}}, ""},
        {"window one beyond", {{"InputWindowOffsets", {1, 0, 4}}}, "SLICE1.windowInBounds"},
        {"window one beyond, in the outermost dimension", {{"InputWindowOffsets", {2, 0, 3}}}, "SLICE1.windowInBounds"},
        {"window beyond, though the output would fit", {{"InputWindowSizes", {1, 4, 4}}}, "SLICE1.windowInBounds"},
        {"offset + size wraps to 2 in 32 bits", {{"InputWindowOffsets", {1, 0, 0xffffffff}}}, "SLICE1.windowInBounds"},
        {"offset + size wraps to 0 in 32 bits",
         {{"InputWindowOffsets", {1, 0, 3}}, {"InputWindowSizes", {1, 4, 0xfffffffd}}},
         "SLICE1.windowInBounds"},

        {"stride 0", {{"InputWindowStrides", {1, -2, 0}}}, "SLICE1.windowStride"},
        {"stride 0 where there is one element", {{"InputWindowStrides", {0, -2, 2}}}, "SLICE1.windowStride"},

        // The largest sizes are 1 + (4 - 1) / 2 = 2 and 1 + (3 - 1) / 2 = 2.
        {"fewer elements than the window has", output({1, 1, 1}), ""},
        {"one more, walking backwards", output({1, 3, 2}), "SLICE1.outputSize"},
        {"one more, walking forwards", output({1, 2, 3}), "SLICE1.outputSize"},
        {"one more where there is one", output({2, 2, 2}), "SLICE1.outputSize"},
        {"1 + (4 - 1) / 3 = 2", {{"InputWindowStrides", {1, -3, 2}}}, ""},
        {"1 + (4 - 1) / 4 = 1", {{"InputWindowStrides", {1, -4, 2}}}, "SLICE1.outputSize"},

        {"strides beyond the window",
         {{"InputWindowStrides", {int_min, int_min, 2147483647}}, {"OutputTensor", tensor(DataType::int8, {1, 1, 1})}},
         ""},
        {"a second element at INT_MIN", {{"InputWindowStrides", {1, int_min, 2}}}, "SLICE1.outputSize"},
    };
    expect_verdicts(base(), cases);
    expect_every_rule("SLICE1", {cases});
}

TEST(Slice1, LargestWindows) {
    // 2^32 - 1 elements with a stride of -2^31 give 1 + (2^32 - 2) / 2^31 = 2 elements.
    const auto huge = describe("SLICE1", {{"InputTensor", tensor(DataType::int8, {0xffffffff})},
                                          {"OutputTensor", tensor(DataType::int8, {2})},
                                          {"InputWindowOffsets", {0}},
                                          {"InputWindowSizes", {0xffffffff}},
                                          {"InputWindowStrides", {-2147483648}}});
    const RuleCase cases[] = {
        {"two elements", {}, ""},
        {"three", {{"OutputTensor", tensor(DataType::int8, {3})}}, "SLICE1.outputSize"},
    };
    expect_verdicts(huge, cases);
}

}  // namespace
}  // namespace dmlconform::tests::slice1_test
