// Tests of ONNX operators that generate elements from numbers or from their positions.
#include <limits>

#include "tests/interop/onnx_passing.h"

namespace dmlconform::tests::onnx_filling_test {
namespace {

onnx::AttributeProto value(const onnx::TensorProto& tensor) {
    onnx::AttributeProto attribute;
    attribute.name.set("value");
    attribute.t.edit() = tensor;
    return attribute;
}

onnx::TensorProto scalar(float number) {
    return floats({}, {number});
}

TEST(OnnxImport, Ranges) {
    const auto ints = [](std::int32_t number) { return tensor<std::int32_t>(6, {}, {number}); };
    expect_rows_pass({
        {"FILL_VALUE_SEQUENCE", {"Range", {scalar(1), scalar(5), scalar(2)}, {floats({2}, {1, 3})}}},
        {"FILL_VALUE_SEQUENCE", {"Range", {ints(10), ints(6), ints(-3)}, {tensor<std::int32_t>(6, {2}, {10, 7})}}},
        {"FILL_VALUE_SEQUENCE", {"Range", {longs({}, {0}), longs({}, {3}), longs({}, {1})}, {longs({3}, {0, 1, 2})}}},
    });
    expect_rows_left_out({
        {"does not follow from start", {"Range", {scalar(1), scalar(5), scalar(2)}, {floats({3}, {1, 3, 5})}}},
        {"does not follow from start", {"Range", {scalar(1), scalar(6), scalar(2)}, {floats({2}, {1, 3})}}},
        {"does not follow from start", {"Range", {scalar(1), scalar(5), scalar(0)}, {floats({2}, {1, 1})}}},
        {"does not follow from start", {"Range", {scalar(1), scalar(1), scalar(0)}, {floats({2}, {1, 1})}}},
        {"not numbers of the output's type", {"Range", {scalar(1), scalar(5), ints(2)}, {floats({2}, {1, 3})}}},
        {"not numbers of the output's type", {"Range", {scalar(1), scalar(5)}, {floats({2}, {1, 3})}}},
    });
}

TEST(OnnxImport, ConstantsOfShapes) {
    const auto shape = longs({2}, {2, 1});
    expect_rows_pass({
        {"FILL_VALUE_CONSTANT", {"ConstantOfShape", {shape}, {floats({2, 1}, {0, 0})}}},
        {"FILL_VALUE_CONSTANT", {"ConstantOfShape", {shape}, {longs({2, 1}, {-9, -9})}, {value(longs({1}, {-9}))}}},
    });
    expect_rows_left_out({
        {"not one number", {"ConstantOfShape", {shape}, {floats({2, 1}, {1, 1})}, {value(floats({2}, {1, 1}))}}},
        {"data type STRING",
         {"ConstantOfShape", {shape}, {floats({2, 1}, {1, 1})}, {value(tensor<std::int8_t>(8, {1}, {1}))}}},
        {"illegal", {"ConstantOfShape", {shape}, {floats({2, 1}, {1, 1})}, {value(longs({1}, {1}))}}},
    });
}

TEST(OnnxImport, Diagonals) {
    const auto like = tensor<std::int32_t>(6, {2, 3}, {1, 2, 3, 4, 5, 6});
    expect_rows_pass({
        {"DIAGONAL_MATRIX", {"EyeLike", {like}, {floats({2, 3}, {1, 0, 0, 0, 1, 0})}, {integer("dtype", 1)}}},
        {"DIAGONAL_MATRIX", {"EyeLike", {like}, {floats({2, 3}, {0, 0, 1, 0, 0, 0})}, {integer("k", 2)}}},
        {"DIAGONAL_MATRIX",
         {"EyeLike", {like}, {tensor<std::int32_t>(6, {2, 3}, {0, 0, 0, 1, 0, 0})}, {integer("k", -1)}}},
        {"DIAGONAL_MATRIX",
         {"EyeLike",
          {like},
          {floats({2, 3}, {0, 0, 0, 0, 0, 0})},
          {integer("k", std::numeric_limits<std::int64_t>::min())}}},
    });
}

TEST(OnnxImport, Triangles) {
    const auto matrix = longs({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const auto lower = integer("upper", 0);
    const auto most = std::numeric_limits<std::int64_t>::max();
    expect_rows_pass({
        {"DIAGONAL_MATRIX1", {"Trilu", {matrix}, {longs({3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9})}}},
        {"DIAGONAL_MATRIX1", {"Trilu", {matrix, longs({}, {1})}, {longs({3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0})}}},
        {"DIAGONAL_MATRIX1", {"Trilu", {matrix, longs({}, {-1})}, {longs({3, 3}, {1, 2, 3, 4, 5, 6, 0, 8, 9})}}},
        {"DIAGONAL_MATRIX1", {"Trilu", {matrix}, {longs({3, 3}, {1, 0, 0, 4, 5, 0, 7, 8, 9})}, {lower}}},
        {"DIAGONAL_MATRIX1",
         {"Trilu", {matrix, longs({}, {-1})}, {longs({3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0})}, {lower}}},
        {"DIAGONAL_MATRIX1", {"Trilu", {matrix, longs({}, {most})}, {matrix}, {lower}}},
        {"DIAGONAL_MATRIX1", {"Trilu", {matrix, longs({}, {most})}, {longs({3, 3}, std::vector<std::int64_t>(9))}}},
        // A batch of two matrices.
        {"DIAGONAL_MATRIX1", {"Trilu", {floats({2, 1, 2}, {1, 2, 3, 4})}, {floats({2, 1, 2}, {1, 0, 3, 0})}, {lower}}},
    });
    expect_rows_left_out({
        {"its k is not one number", {"Trilu", {matrix, longs({2}, {0, 0})}, {matrix}}},
        {"illegal", {"Trilu", {longs({3}, {1, 2, 3})}, {longs({3}, {1, 2, 3})}}},
    });
}

}  // namespace
}  // namespace dmlconform::tests::onnx_filling_test
