// Tests of ONNX operators that reduce: axes as inputs or attributes, missing dimensions, other index types. The
// reference runs each case to check the conversion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interop/onnx_passing.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::onnx_reduction_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const onnx::TensorProto matrix = floats({2, 3}, {1, 5, 3, 4, 2, 6});

TEST(OnnxImport, EveryReduction) {
    const std::pair<const char*, std::vector<float>> rows[] = {
        {"ReduceSum", {9, 12}},
        {"ReduceMean", {3, 4}},
        {"ReduceMax", {5, 6}},
        {"ReduceMin", {1, 2}},
        {"ReduceProd", {15, 48}},
        {"ReduceL1", {9, 12}},
        {"ReduceL2", {5.9160798F, 7.4833148F}},
        {"ReduceSumSquare", {35, 56}},
        {"ReduceLogSum", {2.1972246F, 2.4849066F}},
        {"ReduceLogSumExp", {5.1429316F, 6.1429316F}},
    };
    for (const auto& [type, values] : rows) {
        const auto subject = passing({type, {matrix}, {floats({2, 1}, values)}, {integers("axes", {-1})}});
        EXPECT_EQ(subject.descriptor->schema->short_name(), "REDUCE");
        EXPECT_THAT(subject.descriptor->uints("Axes"), ElementsAre(1));
    }
}

TEST(OnnxImport, AxesOfReductions) {
    const auto as_input = passing({"ReduceSum", {matrix, longs({1}, {0})}, {floats({1, 3}, {5, 7, 9})}});
    EXPECT_THAT(as_input.descriptor->uints("Axes"), ElementsAre(0));
    const auto all = passing({"ReduceSum", {matrix}, {floats({1, 1}, {21})}});
    EXPECT_THAT(all.descriptor->uints("Axes"), ElementsAre(0, 1));
    const auto dropped =
        passing({"ReduceSum", {matrix}, {floats({2}, {9, 12})}, {integers("axes", {1}), integer("keepdims", 0)}});
    EXPECT_THAT(dropped.descriptor->sizes("OutputTensor"), ElementsAre(2, 1));
    const auto scalar = passing({"ReduceMax", {matrix}, {floats({}, {6})}, {integer("keepdims", 0)}});
    EXPECT_THAT(scalar.descriptor->sizes("OutputTensor"), ElementsAre(1, 1));
    const auto nothing = passing({"ReduceMax", {matrix}, {matrix}, {integer("noop_with_empty_axes", 1)}});
    EXPECT_EQ(nothing.descriptor->schema->short_name(), "ELEMENT_WISE_IDENTITY");
    for (const char* type : {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum"}) {
        EXPECT_THAT(reason({type, {matrix}, {matrix}, {integer("noop_with_empty_axes", 1)}}),
                    HasSubstr("versions of ONNX differ"));
    }
    EXPECT_THAT(reason({"ReduceSum", {matrix}, {floats({2, 1}, {9, 12})}, {integers("axes", {2})}}),
                HasSubstr("there is no such axis"));
    EXPECT_THAT(reason({"ReduceSum", {matrix}, {floats({2, 1}, {9, 12})}, {integers("axes", {0})}}),
                HasSubstr("do not follow from the axes"));
}

TEST(OnnxImport, AnEmptyListOfAxes) {
    (void)passing({"ReduceSum", {matrix, longs({0}, {})}, {floats({1, 1}, {21})}});
    const auto nothing =
        passing({"ReduceSum", {matrix, longs({0}, {})}, {matrix}, {integer("noop_with_empty_axes", 1)}});
    EXPECT_EQ(nothing.descriptor->schema->short_name(), "ELEMENT_WISE_IDENTITY");
    // Empty tensors other than the axes are rejected.
    EXPECT_THAT(reason({"ReduceSum", {matrix, longs({0, 2}, {})}, {matrix}}), HasSubstr("size 0"));
    EXPECT_THAT(reason({"ReduceSum", {longs({0}, {}), longs({0}, {})}, {longs({1}, {0})}}), HasSubstr("size 0"));
    EXPECT_THAT(reason({"Add", {longs({1}, {1}), longs({0}, {})}, {longs({1}, {1})}}), HasSubstr("broadcast"));
    EXPECT_THAT(reason({"CumSum", {matrix, longs({0}, {})}, {matrix}}), HasSubstr("without an axis"));
    EXPECT_THAT(reason({"Gather", {matrix, longs({0}, {})}, {matrix}}), HasSubstr("do not follow"));
}

TEST(OnnxImport, Positions) {
    const auto ties = floats({2, 3}, {5, 5, 1, 0, 2, 2});
    const auto first = passing({"ArgMax", {ties}, {longs({2, 1}, {0, 1})}, {integer("axis", 1)}});
    EXPECT_EQ(first.descriptor->schema->short_name(), "ARGMAX");
    const auto last = passing({"ArgMax",
                               {ties},
                               {longs({2}, {1, 2})},
                               {integer("axis", -1), integer("keepdims", 0), integer("select_last_index", 1)}});
    EXPECT_EQ(last.descriptor->uint("AxisDirection"), 1u);
    EXPECT_THAT(last.descriptor->sizes("OutputTensor"), ElementsAre(2, 1));
    const auto least = passing({"ArgMin", {ties}, {longs({1, 3}, {1, 1, 0})}});
    EXPECT_EQ(least.descriptor->schema->short_name(), "ARGMIN");
    EXPECT_THAT(reason({"ArgMin", {ties}, {longs({1, 3}, {1, 1, 0})}, {integer("axis", 2)}}),
                HasSubstr("there is no such axis"));
}

TEST(OnnxImport, CumulativeSums) {
    const auto axis = tensor<std::int32_t>(6, {}, {-1});
    (void)passing({"CumSum", {matrix, axis}, {floats({2, 3}, {1, 6, 9, 4, 6, 12})}});
    (void)passing({"CumSum", {matrix, axis}, {floats({2, 3}, {0, 1, 6, 0, 4, 6})}, {integer("exclusive", 1)}});
    const auto both = passing({"CumSum",
                               {matrix, longs({}, {0})},
                               {floats({2, 3}, {4, 2, 6, 0, 0, 0})},
                               {integer("exclusive", 1), integer("reverse", 1)}});
    EXPECT_EQ(both.descriptor->uint("Axis"), 0u);
    EXPECT_EQ(both.descriptor->uint("AxisDirection"), 1u);
    EXPECT_EQ(both.descriptor->uint("HasExclusiveSum"), 1u);
    EXPECT_THAT(reason({"CumSum", {matrix, longs({}, {2})}, {matrix}}), HasSubstr("there is no such axis"));
    EXPECT_THAT(reason({"CumSum", {matrix}, {matrix}}), HasSubstr("without an axis"));
}

TEST(OnnxImport, CoordinatesAreTurned) {
    const auto subject =
        passing({"NonZero", {floats({2, 3}, {0, 5, 0, 4, 0, 6})}, {longs({2, 3}, {0, 1, 1, 1, 0, 2})}});
    core::Tensor rows(*subject.descriptor->tensor("OutputCoordinatesTensor"));
    EXPECT_THAT(rows.desc.sizes, ElementsAre(6, 2));
    ASSERT_TRUE(subject.expected[1]->fill(rows));
    EXPECT_THAT(values_of<std::uint32_t>(rows), ElementsAre(0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(reason({"NonZero", {matrix}, {longs({1, 2}, {0, 1})}}), HasSubstr("other coordinates"));
    // More coordinates than elements.
    EXPECT_THAT(reason({"NonZero", {floats({2}, {1, 1})}, {longs({1, 5}, {0, 1, 0, 1, 0})}}),
                HasSubstr("other coordinates"));
}

TEST(OnnxImport, QuantisingByTheRange) {
    const auto subject = passing({"DynamicQuantizeLinear",
                                  {floats({2, 2}, {-127.5F, 0, 0, 0})},
                                  {tensor<std::uint8_t>(2, {2, 2}, {0, 255, 255, 255}), floats({}, {0.5F}),
                                   tensor<std::uint8_t>(2, {}, {255})}});
    EXPECT_THAT(subject.descriptor->sizes("OutputScaleTensor"), ElementsAre(1, 1));
    EXPECT_THAT(reason({"DynamicQuantizeLinear", {matrix}, {tensor<std::uint8_t>(2, {2, 3}, {1, 2, 3, 4, 5, 6})}}),
                HasSubstr("without data, scale or zero point"));
}

TEST(OnnxImport, Norms) {
    const auto x = floats({2, 2}, {3, 4, 6, 8});
    const auto subject = passing({"LpNormalization", {x}, {floats({2, 2}, {0.6F, 0.8F, 0.6F, 0.8F})}});
    EXPECT_EQ(subject.descriptor->uint("P"), 2u);
    EXPECT_EQ(subject.descriptor->uint("Axis"), 1u);
    (void)passing({"LpNormalization",
                   {x},
                   {floats({2, 2}, {1 / 3.0F, 1 / 3.0F, 2 / 3.0F, 2 / 3.0F})},
                   {integer("p", 1), integer("axis", 0)}});
}

}  // namespace
}  // namespace dmlconform::tests::onnx_reduction_test
