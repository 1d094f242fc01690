// Tests of 64-bit numbers in ONNX for which DirectML's operator has 32 bits.
#include <limits>

#include "tests/interop/onnx_passing.h"

namespace dmlconform::tests::onnx_narrowing_test {
namespace {

onnx::TensorProto doubles(std::vector<std::int64_t> dims, const std::vector<double>& values) {
    return tensor<double>(11, std::move(dims), values);
}

TEST(OnnxNarrowing, WhatTheNarrowTypeHolds) {
    const auto axis = longs({}, {0});
    const double infinity = std::numeric_limits<double>::infinity();
    const std::pair<NodeTest, const char*> rows[] = {
        {{"CumSum", {doubles({2}, {1, 2.5}), axis}, {doubles({2}, {1, 3.5})}}, "FLOAT64 as FLOAT32"},
        {{"Max", {doubles({2}, {1, -infinity}), doubles({2}, {0, 2})}, {doubles({2}, {1, 2})}}, "FLOAT64 as FLOAT32"},
        // Results may be rounded.
        {{"ReduceLogSumExp", {doubles({2}, {1, 2})}, {doubles({1}, {2.31326168751822})}}, "FLOAT64 as FLOAT32"},
        {{"Pow", {longs({2}, {-3, 2}), longs({2}, {3, 10})}, {longs({2}, {-27, 1024})}}, "INT64 as INT32"},
        {{"Pow", {floats({1}, {2}), tensor<std::uint64_t>(13, {1}, {3})}, {floats({1}, {8})}}, "UINT64 as UINT32"},
    };
    for (const auto& [test, description] : rows) {
        EXPECT_THAT(passing(test).description, testing::HasSubstr(description)) << test.type;
    }
    // Types that the operator supports are not narrowed.
    EXPECT_EQ(passing({"Identity", {doubles({1}, {0.1})}, {doubles({1}, {0.1})}}).description,
              "ONNX Identity, opset 17");
}

TEST(OnnxNarrowing, WhatItDoesNotHold) {
    const auto axis = longs({}, {0});
    const std::int64_t wide = std::int64_t{1} << 31;
    expect_rows_left_out({
        {"has data type FLOAT64", {"CumSum", {doubles({1}, {0.1}), axis}, {doubles({1}, {0.1})}}},
        {"has data type FLOAT64", {"CumSum", {doubles({1}, {1e300}), axis}, {doubles({1}, {1e300})}}},
        {"has data type FLOAT64", {"ReduceSumSquare", {doubles({1}, {0x1p100})}, {doubles({1}, {0x1p200})}}},
        {"has data type INT64", {"Pow", {longs({1}, {wide}), longs({1}, {1})}, {longs({1}, {wide})}}},
        {"has data type INT64", {"Pow", {longs({1}, {2}), longs({1}, {31})}, {longs({1}, {wide})}}},
    });
}

}  // namespace
}  // namespace dmlconform::tests::onnx_narrowing_test
