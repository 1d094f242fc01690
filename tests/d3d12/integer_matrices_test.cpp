// Tests of integer matrix products on the D3D12 engine: all types, zero points and scales.
#include <algorithm>
#include <array>
#include <string_view>

#include "tests/d3d12/matrices.h"
#include "tests/d3d12/products.h"

namespace dmlconform::tests::integer_matrices_test {
namespace {

using core::DataType;
using operators::Descriptor;

using MatricesOnD3d12 = D3d12Test;

constexpr std::array integer_types{DataType::int32,  DataType::int16,  DataType::int8,
                                   DataType::uint32, DataType::uint16, DataType::uint8};

/// One element, or one for each row or column.
core::TensorDesc parameter(Random& random, DataType type, std::uint32_t rows, std::uint32_t columns) {
    core::Dimensions sizes{1, 1, rows, columns};
    if (random.chance(2)) {
        std::fill(sizes.begin(), sizes.end(), 1u);
    }
    return random_input(random, type, sizes);
}

struct Types {
    DataType a;
    DataType b;
    DataType output;
};

Descriptor integer_product(Random& random, std::string_view name, const Types& types, const MatrixShape& shape,
                           Random* layout) {
    const core::Dimensions output_sizes = sizes_of(shape, shape.rows, shape.columns);
    std::vector<Setting> settings{{"ATensor", source_of(layout, types.a, sizes_of(shape, shape.rows, shape.depth))},
                                  {"BTensor", source_of(layout, types.b, sizes_of(shape, shape.depth, shape.columns))},
                                  {"OutputTensor", target_of(layout, types.output, output_sizes)}};
    if (random.chance(2)) {
        settings.emplace_back("AZeroPointTensor", parameter(random, types.a, shape.rows, 1));
    }
    if (random.chance(2)) {
        settings.emplace_back("BZeroPointTensor", parameter(random, types.b, 1, shape.columns));
    }
    const bool is_real = core::is_floating_point(types.output);
    const bool is_quantised = core::bits_of(types.output) == 8;
    if (is_real || is_quantised) {
        const DataType scale = is_real ? types.output : DataType::float32;
        settings.emplace_back("AScaleTensor", parameter(random, scale, shape.rows, 1));
        settings.emplace_back("BScaleTensor", parameter(random, scale, 1, shape.columns));
    }
    if (is_real && random.chance(2)) {
        settings.emplace_back("BiasTensor", source_of(layout, types.output, output_sizes));
    }
    if (is_quantised) {
        settings.emplace_back("OutputScaleTensor", parameter(random, DataType::float32, shape.rows, 1));
        if (random.chance(2)) {
            settings.emplace_back("OutputZeroPointTensor", parameter(random, types.output, shape.rows, 1));
        }
    }
    return describe(name, settings);
}

MatrixShape random_shape(Random& random) {
    // Every fourth is large enough for tiles.
    if (random.chance(4)) {
        return {random.between(60, 70), random.between(60, 130), random.between(80, 120), {}};
    }
    return {random.between(1, 20), random.between(1, 20), random.between(1, 40),
            core::Dimensions(random.between(0, 2), random.between(1, 3))};
}

TEST_F(MatricesOnD3d12, Integers) {
    Random random(7);
    for (int turn = 0; turn < 150 && !HasFailure(); ++turn) {
        const Types types{random.one_of(byte_types), random.one_of(byte_types), DataType::int32};
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_product_like_reference(
            engine(), random, integer_product(random, "MATRIX_MULTIPLY_INTEGER", types, random_shape(random), layout));
    }
}

TEST_F(MatricesOnD3d12, QuantizedIntegers) {
    Random random(8);
    for (int turn = 0; turn < 150 && !HasFailure(); ++turn) {
        const Types types{random.one_of(byte_types), random.one_of(byte_types), random.one_of(byte_types)};
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_product_like_reference(
            engine(), random,
            integer_product(random, "QUANTIZED_LINEAR_MATRIX_MULTIPLY", types, random_shape(random), layout));
    }
}

TEST_F(MatricesOnD3d12, IntegersToReals) {
    Random random(9);
    for (int turn = 0; turn < 200 && !HasFailure(); ++turn) {
        const Types types{random.one_of(integer_types), random.one_of(integer_types), random.one_of(real_types)};
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_product_like_reference(
            engine(), random,
            integer_product(random, "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", types, random_shape(random), layout));
    }
}

/// Sums of 255 * 255 that exceed 32 bits: INT32 wraps, quantised sums do not.
TEST_F(MatricesOnD3d12, SumsBeyondThirtyTwoBits) {
    for (const std::uint32_t depth : {33025u, 33026u, 70000u}) {
        for (const std::uint32_t columns : {3u, 70u}) {
            Random random(depth);
            const MatrixShape shape{8, columns, depth, {}};
            for (const DataType output : {DataType::int32, DataType::uint8}) {
                const std::string_view name =
                    output == DataType::int32 ? "MATRIX_MULTIPLY_INTEGER" : "QUANTIZED_LINEAR_MATRIX_MULTIPLY";
                const Types types{DataType::uint8, DataType::uint8, output};
                const Descriptor descriptor = with(integer_product(random, name, types, shape, nullptr),
                                                   {{"AZeroPointTensor", nullptr}, {"BZeroPointTensor", nullptr}});
                std::vector<core::Tensor> inputs;
                for (const operators::TensorSlot& slot : descriptor.inputs()) {
                    const double value = slot.name.size() == 7              ? 255
                                         : slot.name == "OutputScaleTensor" ? 300.0 * depth
                                                                            : 1;
                    inputs.push_back(slot.desc == nullptr ? core::Tensor() : drawn(*slot.desc, [&] { return value; }));
                }
                tests::expect_like_reference(engine(), descriptor, inputs);
            }
        }
    }
}

/// Odd sums that FP32 cannot represent, in tiles of all sizes: more than 512 products close to the largest ones.
TEST_F(MatricesOnD3d12, SumsBeyondTwentyFourBits) {
    struct Given {
        MatrixShape shape;
        std::uint32_t side;
    };
    const Given all[] = {{{1281, 1280, 1031, {}}, 128},
                         {{520, 400, 4104, {}}, 128},
                         {{64, 16500, 1031, {}}, 64},
                         {{40, 400, 1024, {}}, 32}};
    for (const Given& given : all) {
        SCOPED_TRACE(testing::Message() << given.shape.rows << " by " << given.shape.columns);
        Random random(given.shape.depth);
        const Types types{DataType::int8, DataType::uint8, DataType::int32};
        const Descriptor descriptor = with(
            integer_product(random, "MATRIX_MULTIPLY_INTEGER", types, given.shape, nullptr),
            {{"AZeroPointTensor", tensor(DataType::int8, {1})}, {"BZeroPointTensor", tensor(DataType::uint8, {1})}});
        std::vector<core::Tensor> inputs;
        inputs.push_back(
            drawn(*descriptor.tensor("ATensor"), [&] { return random.between(0, 7) > 0 ? -127.0 : -128.0; }));
        inputs.push_back(drawn(*descriptor.tensor("AZeroPointTensor"), [] { return 101; }));
        inputs.push_back(
            drawn(*descriptor.tensor("BTensor"), [&] { return random.between(0, 7) > 0 ? 255.0 : 254.0; }));
        inputs.push_back(drawn(*descriptor.tensor("BZeroPointTensor"), [] { return 1; }));
        const auto plan = d3d12::find_binding("MATRIX_MULTIPLY_INTEGER")->plan(descriptor);
        const std::string key = plan.dispatches.at(0).shader.key();
        EXPECT_THAT(key,
                    testing::HasSubstr(given.side == 32 ? "product_parted" : "SIDE=" + std::to_string(given.side)));
        tests::expect_like_reference(engine(), descriptor, inputs);
    }
}

/// 32-bit numbers whose difference from the zero point exceeds 32 bits.
TEST_F(MatricesOnD3d12, DistantZeroPoints) {
    Random random(10);
    const Types types{DataType::int32, DataType::uint32, DataType::float32};
    const MatrixShape shape{1, 1, 1, {}};
    const Descriptor descriptor =
        with(integer_product(random, "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", types, shape, nullptr),
             {{"AZeroPointTensor", tensor(DataType::int32, {1})},
              {"BZeroPointTensor", tensor(DataType::uint32, {1})},
              {"AScaleTensor", tensor(DataType::float32, {1})},
              {"BScaleTensor", tensor(DataType::float32, {1})},
              {"BiasTensor", nullptr}});
    struct Numbers {
        double a;
        double a_zero;
        double b;
        double b_zero;
    };
    for (const Numbers& row : {Numbers{2147483647, -2147483648, 4294967295, 0},
                               Numbers{-2147483648, 2147483647, 0, 4294967295}, Numbers{5, 7, 7, 5}}) {
        std::vector<core::Tensor> inputs;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            const double value = slot.name == "ATensor"            ? row.a
                                 : slot.name == "AZeroPointTensor" ? row.a_zero
                                 : slot.name == "BTensor"          ? row.b
                                 : slot.name == "BZeroPointTensor" ? row.b_zero
                                                                   : 1;
            inputs.push_back(slot.desc == nullptr ? core::Tensor() : drawn(*slot.desc, [&] { return value; }));
        }
        tests::expect_like_reference(engine(), descriptor, inputs);
    }
}

}  // namespace
}  // namespace dmlconform::tests::integer_matrices_test
