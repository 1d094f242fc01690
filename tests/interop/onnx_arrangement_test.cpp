// Tests of ONNX operators that rearrange all elements.
#include "tests/interop/onnx_passing.h"

namespace dmlconform::tests::onnx_arrangement_test {
namespace {

const onnx::TensorProto matrix = floats({2, 2}, {1, 2, 3, 4});

TEST(OnnxImport, BlocksOfSpaceAndDepth) {
    const auto deep = floats({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
    const auto blocks = integer("blocksize", 2);
    // The first block consists of every second channel, or of the first four.
    const auto by_depth = floats({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
    const auto by_column = floats({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
    expect_rows_pass({
        {"DEPTH_TO_SPACE1", {"DepthToSpace", {deep}, {by_depth}, {blocks}}},
        {"DEPTH_TO_SPACE1", {"DepthToSpace", {deep}, {by_depth}, {blocks, text("mode", "DCR")}}},
        {"DEPTH_TO_SPACE1", {"DepthToSpace", {deep}, {by_column}, {blocks, text("mode", "CRD")}}},
        {"SPACE_TO_DEPTH1", {"SpaceToDepth", {by_depth}, {deep}, {blocks}}},
    });
    expect_rows_left_out({
        {"the mode is not", {"DepthToSpace", {deep}, {by_depth}, {blocks, text("mode", "RCD")}}},
        {"not a size", {"DepthToSpace", {deep}, {by_depth}, {integer("blocksize", -2)}}},
        {"illegal", {"DepthToSpace", {deep}, {by_depth}, {integer("blocksize", 3)}}},
    });
}

TEST(OnnxImport, Padding) {
    const auto row = tensor<std::int32_t>(6, {1, 3}, {1, 2, 3});
    const auto ints = [](std::vector<std::int32_t> values) {
        return tensor<std::int32_t>(6, {1, static_cast<std::int64_t>(values.size())}, values);
    };
    const auto pads = longs({4}, {0, 1, 0, 2});
    constexpr float infinity = std::numeric_limits<float>::infinity();
    expect_rows_pass({
        {"PADDING1", {"Pad", {row, pads}, {ints({0, 1, 2, 3, 0, 0})}}},
        {"PADDING1", {"Pad", {row, pads, tensor<std::int32_t>(6, {}, {-7})}, {ints({-7, 1, 2, 3, -7, -7})}}},
        {"PADDING1", {"Pad", {row, pads}, {ints({1, 1, 2, 3, 3, 3})}, {text("mode", "edge")}}},
        {"PADDING1", {"Pad", {row, pads}, {ints({2, 1, 2, 3, 2, 1})}, {text("mode", "reflect")}}},
        {"PADDING1", {"Pad", {row, pads}, {ints({3, 1, 2, 3, 1, 2})}, {text("mode", "wrap")}}},
        // Along one axis, and with the attributes of old opsets.
        {"PADDING1",
         {"Pad", {row, longs({2}, {1, 0}), {}, longs({1}, {-1})}, {ints({0, 1, 2, 3})}, {}, 0, {}, false, 18}},
        {"PADDING1",
         {"Pad",
          {matrix},
          {floats({3, 2}, {1, 2, 3, 4, 0.5F, 0.5F})},
          {integers("pads", {0, 0, 1, 0}), number("value", 0.5F)},
          0,
          {},
          false,
          2}},
        {"PADDING1",
         {"Pad",
          {floats({1, 1}, {7})},
          {floats({1, 2}, {7, -infinity})},
          {integers("pads", {0, 0, 0, 1}), number("value", -infinity)},
          0,
          {},
          false,
          2}},
    });
    expect_rows_left_out({
        {"two paddings for each axis", {"Pad", {row, longs({3}, {0, 1, 0})}, {row}}},
        {"two paddings for each axis", {"Pad", {row}, {row}}},
        {"not a mode of Pad", {"Pad", {row, pads}, {row}, {text("mode", "mirror")}}},
        {"no such axis", {"Pad", {row, longs({2}, {1, 0}), {}, longs({1}, {2})}, {row}}},
        {"not one number", {"Pad", {row, pads, tensor<std::int32_t>(6, {2}, {1, 2})}, {row}}},
        {"illegal", {"Pad", {row, pads}, {row}}},
    });
}

TEST(OnnxImport, CopiesAndReversals) {
    const auto square = floats({3, 2}, {1, 2, 3, 4, 5, 6});
    const auto lengths = longs({2}, {2, 3});
    expect_rows_pass({
        {"TILE", {"Tile", {matrix, longs({2}, {1, 2})}, {floats({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4})}}},
        {"REVERSE_SUBSEQUENCES", {"ReverseSequence", {square, lengths}, {floats({3, 2}, {3, 6, 1, 4, 5, 2})}}},
        {"REVERSE_SUBSEQUENCES",
         {"ReverseSequence",
          {floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), lengths},
          {floats({2, 3, 2}, {3, 4, 1, 2, 5, 6, 11, 12, 9, 10, 7, 8})},
          {integer("time_axis", 1), integer("batch_axis", 0)}}},
    });
    expect_rows_left_out({
        {"not one repeat", {"Tile", {matrix, longs({1}, {2})}, {matrix}}},
        {"at least 1", {"Tile", {matrix, longs({2}, {1, 0})}, {matrix}}},
        {"illegal", {"Tile", {matrix, longs({2}, {1, 2147483647})}, {matrix}}},
        {"not two axes", {"ReverseSequence", {square, lengths}, {square}, {integer("batch_axis", 0)}}},
        {"one length for each batch", {"ReverseSequence", {square, longs({3}, {1, 2, 3})}, {square}}},
        {"negative", {"ReverseSequence", {square, longs({2}, {1, -2})}, {square}}},
    });
}

TEST(OnnxImport, MaximaPutBack) {
    const auto maxima = floats({1, 1, 2, 1}, {5, 6});
    const auto indices = longs({1, 1, 2, 1}, {1, 7});
    const auto spread = floats({1, 1, 4, 2}, {0, 5, 0, 0, 0, 0, 0, 6});
    const std::vector<onnx::AttributeProto> windows{integers("kernel_shape", {2, 2}), integers("strides", {2, 2})};
    expect_rows_pass({
        {"MAX_UNPOOLING", {"MaxUnpool", {maxima, indices}, {spread}, windows}},
        {"MAX_UNPOOLING",
         {"MaxUnpool",
          {floats({1, 1, 2}, {5, 6}), longs({1, 1, 2}, {1, 2})},
          {floats({1, 1, 4}, {0, 5, 6, 0})},
          {integers("kernel_shape", {2}), integers("strides", {2})}}},
    });
    expect_rows_left_out({
        {"in another output",
         {"MaxUnpool", {maxima, indices}, {floats({1, 1, 4, 3}, std::vector<float>(12))}, windows}},
        {"without indices", {"MaxUnpool", {maxima}, {spread}, windows}},
        {"spatial dimension", {"MaxUnpool", {matrix, longs({2, 2}, {0, 1, 2, 3})}, {matrix}, windows}},
        {"negative", {"MaxUnpool", {maxima, longs({1, 1, 2, 1}, {1, -7})}, {spread}, windows}},
    });
}

TEST(OnnxImport, EinsumByStrides) {
    const auto batches = floats({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
    const auto equation = [](const char* value) { return std::vector{text("equation", value)}; };
    expect_rows_pass({
        {"ELEMENT_WISE_IDENTITY",
         {"Einsum", {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {floats({3, 2}, {1, 4, 2, 5, 3, 6})}, equation("ij->ji")}},
        {"ELEMENT_WISE_IDENTITY", {"Einsum", {batches}, {floats({2, 2}, {0, 3, 4, 7})}, equation("...ii ->...i")}},
        {"ELEMENT_WISE_IDENTITY", {"Einsum", {batches}, {floats({2}, {0, 7})}, equation("iii -> i")}},
        {"ELEMENT_WISE_IDENTITY",
         {"Einsum", {batches}, {floats({2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})}, equation("...i->i...")}},
    });
    expect_rows_left_out({
        {"twice in a factor", {"Einsum", {matrix, matrix}, {matrix}, equation("ii,jk->ik")}},
        {"without \"->\"", {"Einsum", {matrix}, {floats({}, {5})}, equation("ii")}},
        {"without \"->\"", {"Einsum", {matrix}, {matrix}}},
        {"those of the dimensions", {"Einsum", {matrix}, {matrix}, equation("ijk->ijk")}},
        {"that sums", {"Einsum", {matrix}, {matrix}, equation("ij->ik")}},
        {"those of the dimensions", {"Einsum", {matrix}, {matrix}, equation("ii->ii")}},
        {"those of the dimensions", {"Einsum", {matrix}, {floats({3, 2}, {1, 2, 3, 4, 5, 6})}, equation("ij->ij")}},
    });
}

}  // namespace
}  // namespace dmlconform::tests::onnx_arrangement_test
