// Tests of ONNX operators that gather or scatter elements by index.
#if DMLCONFORM_HAS_ONNX
#include "tests/interop/onnx_passing.h"

namespace dmlconform::tests::onnx_indexing_test {
namespace {

const onnx::TensorProto square = floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
const onnx::TensorProto cube = floats({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
const onnx::TensorProto off_and_on = floats({2}, {1, 3});

onnx::TensorProto bools(const std::vector<std::uint8_t>& values) {
    return tensor<std::uint8_t>(9, {static_cast<std::int64_t>(values.size())}, values);
}

TEST(OnnxImport, ElementsPickedByIndices) {
    expect_rows_pass({
        {"GATHER_ELEMENTS",
         {"GatherElements", {square, longs({2, 3}, {-1, -2, 0, -2, 0, 0})}, {floats({2, 3}, {7, 5, 3, 4, 2, 3})}}},
        {"GATHER_ELEMENTS",
         {"GatherElements", {square, longs({3, 1}, {2, 0, 1})}, {floats({3, 1}, {3, 4, 8})}, {integer("axis", -1)}}},
        {"GATHER_ND1", {"GatherND", {cube, longs({2, 1, 2}, {0, 1, 1, 0})}, {floats({2, 1, 2}, {2, 3, 4, 5})}}},
        {"GATHER_ND1",
         {"GatherND", {cube, longs({2, 1}, {1, 0})}, {floats({2, 2}, {2, 3, 4, 5})}, {integer("batch_dims", 1)}}},
        // The output has one dimension more than data and indices.
        {"GATHER_ND1",
         {"GatherND",
          {square, longs({2, 2, 1}, {0, 1, 2, 0})},
          {floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3})}}},
        {"GATHER",
         {"Compress", {square, bools({0, 1, 1})}, {floats({2, 3}, {4, 5, 6, 7, 8, 9})}, {integer("axis", 0)}}},
        {"GATHER", {"Compress", {square, bools({0, 1})}, {floats({3, 1}, {2, 5, 8})}, {integer("axis", -1)}}},
        {"GATHER", {"Compress", {square, bools({0, 1, 0, 0, 1})}, {floats({2}, {2, 5})}}},
    });
}

TEST(OnnxImport, ElementsPutByIndices) {
    const auto row = floats({1, 5}, {1, 2, 3, 4, 5});
    const auto places = longs({1, 2}, {1, -3});
    const auto updates = floats({1, 2}, {8, 9});
    const auto put = floats({1, 5}, {1, 8, 9, 4, 5});
    expect_rows_pass({
        {"SCATTER", {"ScatterElements", {row, places, updates}, {put}, {integer("axis", 1)}}},
        {"SCATTER", {"Scatter", {row, places, updates}, {put}, {integer("axis", -1)}}},
        {"SCATTER",
         {"ScatterElements", {row, places, updates}, {put}, {integer("axis", 1), text("reduction", "none")}}},
        {"SCATTER_ND",
         {"ScatterND",
          {square, longs({2, 1}, {2, 0}), floats({2, 3}, {1, 1, 1, 2, 2, 2})},
          {floats({3, 3}, {2, 2, 2, 4, 5, 6, 1, 1, 1})}}},
        {"SCATTER_ND",
         {"ScatterND",
          {square, longs({1, 1, 2}, {1, 1}), floats({1, 1}, {0})},
          {floats({3, 3}, {1, 2, 3, 4, 0, 6, 7, 8, 9})}}},
    });
    expect_rows_left_out({
        {"no reduction (\"add\")",
         {"ScatterElements", {row, places, updates}, {put}, {integer("axis", 1), text("reduction", "add")}}},
        {"no reduction (\"mul\")", {"ScatterND", {row, places, updates}, {put}, {text("reduction", "mul")}}},
        {"no updates", {"ScatterND", {row, places}, {put}}},
        {"no such axis", {"Scatter", {row, places, updates}, {put}, {integer("axis", 2)}}},
    });
}

TEST(OnnxImport, OneHotTakesIndicesOfAnyNumber) {
    const auto last = floats({2, 3}, {1, 3, 1, 1, 1, 3});
    const auto depth = floats({}, {3});
    expect_rows_pass({
        {"ONE_HOT", {"OneHot", {longs({2}, {1, 2}), depth, off_and_on}, {last}}},
        {"ONE_HOT", {"OneHot", {longs({2}, {-2, -1}), depth, off_and_on}, {last}, {integer("axis", 1)}}},
        {"ONE_HOT",
         {"OneHot",
          {floats({2}, {1, 2}), longs({}, {3}), off_and_on},
          {floats({3, 2}, {1, 1, 3, 1, 1, 3})},
          {integer("axis", -2)}}},
        {"ONE_HOT", {"OneHot", {longs({}, {1}), depth, off_and_on}, {floats({3}, {1, 3, 1})}}},
    });
    expect_rows_left_out({
        {"not a whole number", {"OneHot", {floats({2}, {1, 1.5F}), depth, off_and_on}, {last}}},
        {"not the output's size", {"OneHot", {longs({2}, {1, 2}), floats({}, {4}), off_and_on}, {last}}},
        {"without two values", {"OneHot", {longs({2}, {1, 2}), depth, floats({3}, {1, 2, 3})}, {last}}},
        {"without two values", {"OneHot", {longs({2}, {1, 2}), depth}, {last}}},
        {"do not follow from those of the indices", {"OneHot", {longs({3}, {1, 2, 0}), depth, off_and_on}, {last}}},
    });
}

TEST(OnnxImport, IndicesThatDoNotFit) {
    expect_rows_left_out({
        {"its first two inputs", {"GatherElements", {square}, {square}}},
        {"no such axis",
         {"GatherElements", {square, longs({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0})}, {square}, {integer("axis", 2)}}},
        {"batch_dims",
         {"GatherND", {cube, longs({2, 1}, {1, 0})}, {floats({2, 2}, {2, 3, 4, 5})}, {integer("batch_dims", 2)}}},
        {"batch_dims",
         {"GatherND", {cube, longs({2, 1}, {1, 0})}, {floats({2, 2}, {2, 3, 4, 5})}, {integer("batch_dims", -1)}}},
        // DirectML's rules reject the remaining mistakes.
        {"illegal", {"GatherND", {cube, longs({2, 4}, {1, 0, 1, 0, 1, 0, 1, 0})}, {floats({2}, {2, 3})}}},
        {"at most as long as", {"Compress", {square, bools({0, 1, 0, 1})}, {square}, {integer("axis", 0)}}},
        {"a list of BOOL", {"Compress", {square, longs({3}, {0, 1, 0})}, {square}, {integer("axis", 0)}}},
        {"chooses nothing", {"Compress", {square, bools({0, 0})}, {square}}},
        {"no such axis", {"Compress", {square, bools({1})}, {square}, {integer("axis", -3)}}},
    });
}

}  // namespace
}  // namespace dmlconform::tests::onnx_indexing_test
#endif
