// Tests of engine/operators/rules/top_k1: each rule at its boundary.
#include <gtest/gtest.h>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::top_k1_test {
namespace {

using core::DataType;
using core::FeatureLevel;

operators::Descriptor base() {
    return describe("TOP_K1", {{"InputTensor", tensor(DataType::float32, {1, 2, 3, 4})},
                               {"OutputValueTensor", tensor(DataType::float32, {1, 2, 2, 4})},
                               {"OutputIndexTensor", tensor(DataType::uint32, {1, 2, 2, 4})},
                               {"Axis", 2},
                               {"K", 2},
                               {"AxisDirection", 1}});
}

std::vector<Setting> outputs(std::uint32_t axis, std::uint32_t k, const core::Dimensions& sizes) {
    return {{"Axis", axis},
            {"K", k},
            {"OutputValueTensor", tensor(DataType::float32, sizes)},
            {"OutputIndexTensor", tensor(DataType::uint32, sizes)}};
}

std::vector<Setting> types(DataType value, DataType index) {
    return {{"InputTensor", tensor(value, {1, 2, 3, 4})},
            {"OutputValueTensor", tensor(value, {1, 2, 2, 4})},
            {"OutputIndexTensor", tensor(index, {1, 2, 2, 4})}};
}

TEST(TopK1, Rules) {
    const RuleCase cases[] = {
        {"first axis", outputs(0, 1, {1, 2, 3, 4}), ""},
        {"last axis", outputs(3, 4, {1, 2, 3, 4}), ""},
        {"one beyond the last axis", outputs(4, 1, {1, 2, 3, 4}), "TOP_K1.axis"},
        {"far beyond", outputs(0xffffffff, 1, {1, 2, 3, 4}), "TOP_K1.axis"},
        {"K 1", outputs(2, 1, {1, 2, 1, 4}), ""},
        // The documentation says "less than". Measured on DirectML 1.15.4: it accepts equality.
        {"K all of them", outputs(2, 3, {1, 2, 3, 4}), ""},
        {"K one more", outputs(2, 4, {1, 2, 4, 4}), "TOP_K1.k"},
        {"K 0", outputs(2, 0, {1, 2, 1, 4}), "TOP_K1.k"},
        {"K not the outputs' size", outputs(2, 3, {1, 2, 2, 4}), "TOP_K1.outputSizes"},
        {"another size differs", outputs(2, 2, {1, 1, 2, 4}), "TOP_K1.outputSizes"},
        {"only the values' differ",
         {{"OutputValueTensor", tensor(DataType::float32, {1, 2, 3, 4})}},
         "TOP_K1.outputSizes"},
        {"only the indices' differ",
         {{"OutputIndexTensor", tensor(DataType::uint32, {1, 2, 3, 4})}},
         "TOP_K1.outputSizes"},
        {"ranks differ", {{"OutputIndexTensor", tensor(DataType::uint32, {2, 2, 4})}}, "tensor.sameDimensionCount"},
        {"types differ", {{"OutputValueTensor", tensor(DataType::float16, {1, 2, 2, 4})}}, "tensor.sameDataType"},
    };
    expect_verdicts(base(), cases);
    expect_every_rule("TOP_K1", {cases});
}

TEST(TopK1, Types) {
    const RuleCase cases[] = {
        {"FLOAT16", types(DataType::float16, DataType::uint32), "", {2, 1}},
        {"INT64 at 4.1", types(DataType::int64, DataType::uint32), "tensor.dataType", {4, 1}, FeatureLevel{5, 0}},
        {"INT64 at 5.0", types(DataType::int64, DataType::uint32), "", {5, 0}},
        {"UINT64 indices at 4.1",
         types(DataType::int8, DataType::uint64),
         "tensor.dataType",
         {4, 1},
         FeatureLevel{5, 0}},
        {"UINT64 indices at 5.0", types(DataType::int8, DataType::uint64), "", {5, 0}},
        {"INT32 indices", types(DataType::int8, DataType::int32), "tensor.dataType"},
        {"FLOAT64", types(DataType::float64, DataType::uint32), "tensor.dataType"},
        {"one dimension at 3.0",
         {{"InputTensor", tensor(DataType::int8, {3})},
          {"OutputValueTensor", tensor(DataType::int8, {2})},
          {"OutputIndexTensor", tensor(DataType::uint32, {2})},
          {"Axis", 0}},
         "tensor.dimensionCount",
         {3, 0},
         FeatureLevel{3, 1}},
    };
    expect_verdicts(base(), cases);
}

}  // namespace
}  // namespace dmlconform::tests::top_k1_test
