// com.microsoft's product with weights of a few bits, which are packed into bytes.
#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

constexpr int onnx_uint4 = 21;

/// The weights' rows, and how each row is divided into blocks with a scale.
struct Weights {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t block = 0;

    [[nodiscard]] std::int64_t blocks() const { return columns / block; }
};

core::Result<Weights> weights_of(const Expansion& to) {
    const Weights weights{to.integer_of("N", 0), to.integer_of("K", 0), to.integer_of("block_size", 0)};
    constexpr std::int64_t most = 0x7fffffff;
    if (to.integer_of("bits", 4) != 4) {
        return core::fail("it is mapped for weights of four bits");
    }
    if (weights.rows < 1 || weights.rows > most || weights.columns < 2 || weights.columns > most || weights.block < 2 ||
        weights.columns % weights.block != 0 || weights.block % 2 != 0) {
        return core::fail("K is not divided into blocks of block_size");
    }
    if (!to.input(4).empty()) {
        return core::fail("it is mapped without g_idx");
    }
    return weights;
}

/// Two elements of each byte, as a matrix.
std::string unpacked(Expansion& to, int input, std::int64_t rows, std::int64_t columns) {
    const std::string elements = to.add(two_of_each_byte, {to.input(input)});
    return to.add("Reshape", {elements, to.whole_numbers({rows, columns})});
}

/// The middle of the range where there are none.
core::Result<std::string> zero_points_of(Expansion& to, const Weights& weights) {
    if (to.input(3).empty()) {
        onnx::TensorProto middle;
        middle.data_type.set(onnx_uint4);
        middle.dims.add(1);
        middle.int32_data.add(8);
        const std::string sizes = to.whole_numbers({weights.rows, weights.blocks()});
        return to.add("ConstantOfShape", {sizes}, "", {value(middle)});
    }
    const OnnxTensor* packed = to.known(3);
    if (packed == nullptr || packed->type != core::DataType::uint8 || weights.blocks() % 2 != 0) {
        return core::fail("zero points are mapped for an even number of blocks in a row, two in a byte");
    }
    return unpacked(to, 3, weights.rows, weights.blocks());
}

}  // namespace

Nodes expand_packed_product(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const auto weights = weights_of(to);
    if (!weights) {
        return tl::unexpected(weights.error());
    }
    if (data == nullptr || data->sizes.empty() || data->sizes.back() != weights->columns) {
        return core::fail("its data have no rows of K elements");
    }
    std::vector<std::int64_t> result(data->sizes.begin(), data->sizes.end());
    result.back() = weights->rows;
    const auto zero_points = zero_points_of(to, *weights);
    if (!zero_points) {
        return tl::unexpected(zero_points.error());
    }
    const std::string codes = unpacked(to, 1, weights->rows, weights->columns);
    const std::string scales = to.add("Reshape", {to.input(2), to.whole_numbers({weights->rows, weights->blocks()})});
    const std::string matrix = to.add("DequantizeLinear", {codes, scales, *zero_points}, "",
                                      {integer("axis", 1), integer("block_size", weights->block)});
    const std::string flat = to.add("Reshape", {to.input(0), to.whole_numbers({-1, weights->columns})});
    const std::string product = to.add("Gemm", {flat, matrix, to.input(5)}, "", {integer("transB", 1)});
    to.add("Reshape", {product, to.whole_numbers(result)}, to.output(0));
    return to.take();
}

}  // namespace dmlconform::interop::expansion
