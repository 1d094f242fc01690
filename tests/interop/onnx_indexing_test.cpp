// Tests of ONNX operators that gather or scatter elements by index.
#include "tests/interop/onnx_models.h"
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
    const auto indices = longs({1, 2}, {1, -3});
    const auto updates = floats({1, 2}, {8, 9});
    const auto put = floats({1, 5}, {1, 8, 9, 4, 5});
    expect_rows_pass({
        {"SCATTER", {"ScatterElements", {row, indices, updates}, {put}, {integer("axis", 1)}}},
        {"SCATTER", {"Scatter", {row, indices, updates}, {put}, {integer("axis", -1)}}},
        {"SCATTER",
         {"ScatterElements", {row, indices, updates}, {put}, {integer("axis", 1), text("reduction", "none")}}},
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
        {"no reduction (\"other\")",
         {"ScatterElements", {row, indices, updates}, {put}, {integer("axis", 1), text("reduction", "other")}}},
        {"no reduction (\"other\")",
         {"ScatterND",
          {square, longs({1, 1}, {0}), floats({1, 3}, {1, 1, 1})},
          {square},
          {text("reduction", "other")}}},
        {"no updates", {"ScatterND", {row, indices}, {put}}},
        {"no such axis", {"Scatter", {row, indices, updates}, {put}, {integer("axis", 2)}}},
    });
}

/// Each update is combined with what the updates before it left.
TEST(OnnxImport, ElementsCombinedByIndices) {
    const auto row = floats({1, 5}, {1, 2, 3, 4, 5});
    const auto twice = longs({1, 3}, {1, -3, 1});
    const auto updates = floats({1, 3}, {8, -9, 3});
    const auto by_elements = [&](const char* reduction, const std::vector<float>& values) {
        return passing_steps(
            {{node("ScatterElements", {"x", "i", "u"}, {"y"}, {integer("axis", 1), text("reduction", reduction)})},
             {{"x", row}, {"i", twice}, {"u", updates}},
             {{"y", floats({1, 5}, values)}}});
    };
    EXPECT_GE(by_elements("add", {1, 13, -6, 4, 5}).size(), 9U) << "three updates of three steps each";
    EXPECT_GE(by_elements("mul", {1, 48, -27, 4, 5}).size(), 9U);
    EXPECT_GE(by_elements("max", {1, 8, 3, 4, 5}).size(), 9U);
    EXPECT_GE(by_elements("min", {1, 2, -9, 4, 5}).size(), 9U);

    const auto by_rows = [&](const char* reduction, const std::vector<float>& values) {
        return passing_steps(
            {{node("ScatterND", {"x", "i", "u"}, {"y"}, {text("reduction", reduction)})},
             {{"x", square}, {"i", longs({3, 1}, {2, 0, -1})}, {"u", floats({3, 3}, {1, 2, 3, 0, 5, -1, 10, -2, 4})}},
             {{"y", floats({3, 3}, values)}}});
    };
    EXPECT_GE(by_rows("add", {1, 7, 2, 4, 5, 6, 18, 8, 16}).size(), 9U);
    EXPECT_GE(by_rows("mul", {0, 10, -3, 4, 5, 6, 70, -32, 108}).size(), 9U);
    EXPECT_GE(by_rows("max", {1, 5, 3, 4, 5, 6, 10, 8, 9}).size(), 9U);
    EXPECT_GE(by_rows("min", {0, 2, -1, 4, 5, 6, 1, -2, 3}).size(), 9U);
    // Indices of all dimensions are for single elements.
    EXPECT_EQ(passing_steps({{node("ScatterND", {"x", "i", "u"}, {"y"}, {text("reduction", "mul")})},
                             {{"x", row}, {"i", longs({1, 2}, {0, 3})}, {"u", floats({1}, {8})}},
                             {{"y", floats({1, 5}, {1, 2, 3, 32, 5})}}})
                  .back(),
              "test_it/5-ScatterND");
}

TEST(OnnxImport, CombinationsThatAreLeftOut) {
    const std::vector<std::int64_t> indices(257, 0);
    const std::vector<float> values(257, 1);
    const auto row = floats({1, 5}, {1, 2, 3, 4, 5});
    expect_rows_left_out({
        {"up to 256 updates along its axis",
         {"ScatterElements",
          {row, longs({1, 257}, indices), floats({1, 257}, values)},
          {row},
          {integer("axis", 1), text("reduction", "add")}}},
        {"up to 256 updates",
         {"ScatterND",
          {floats({5}, {1, 2, 3, 4, 5}), longs({257, 1}, indices), floats({257}, values)},
          {floats({5}, {258, 2, 3, 4, 5})},
          {text("reduction", "add")}}},
        // One position of two coordinates has one update.
        {"another number of elements",
         {"ScatterND", {row, longs({1, 2}, {0, 3}), floats({1, 2}, {8, 9})}, {row}, {text("reduction", "mul")}}},
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
