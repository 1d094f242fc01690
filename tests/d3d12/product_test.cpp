// Products on the D3D12 engine: how they are planned, and matrices and windows of all shapes, layouts and types.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "engine/d3d12/product.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests {
namespace {

using core::DataType;
using d3d12::Product;
using d3d12::ProductDivision;
using operators::Descriptor;

// ---- Planning ----

/// A row of the planner's table: products of a shape, the side of the tiles that make them, and the slices of the
/// depth.
struct Shared {
    std::uint64_t products;
    std::uint32_t rows;
    std::uint32_t columns;
    std::uint64_t depth;
    std::uint32_t side;
    std::uint64_t slices;
};

const Shared shared[] = {
    // Too little to do, or too narrow.
    {1, 64, 64, 63, 0, 1},
    {1, 7, 4096, 512, 0, 1},
    {1, 4096, 15, 512, 0, 1},
    {1000, 1, 3136, 9, 0, 1},
    {1, 64, 64, 64, 64, 1},
    {1, 8, 16, 2048, 64, 4},
    // Large tiles only where there are many.
    {1, 1280, 1280, 64, 128, 1},
    {1, 1280, 1152, 64, 64, 1},
    {100, 65, 65, 64, 128, 1},
    {100, 64, 65, 64, 64, 1},
    {1, 4096, 4096, 4096, 128, 1},
    // Long sums: as many slices as make a large GPU busy, each at least 512 deep.
    {1, 64, 64, 1023, 64, 1},
    {1, 64, 64, 1024, 64, 2},
    {1, 64, 128, 1u << 20, 64, 128},
    {1, 1, 1, 100000, 0, 190},
    {1, 1, 1, 16384, 0, 32},
    // And none that is too long for a thread.
    {1, 4096, 4096, 16384, 128, 1},
    {1, 4096, 4096, 16385, 128, 2},
    {1, 1, 1u << 20, 16384, 0, 1},
    {1, 1, 1u << 20, 16385, 0, 2},
};

Product product_of(const Shared& row) {
    Product product;
    product.depth = row.depth;
    product.parameters.row_count = row.rows;
    product.parameters.column_count = row.columns;
    d3d12::SharedDimension<d3d12::product_arrays> dimension;
    dimension.size = row.products;
    product.products = {dimension};
    return product;
}

TEST(ProductPlanning, DividesRowsColumnsAndDepth) {
    for (const Shared& row : shared) {
        SCOPED_TRACE(testing::Message() << row.products << " products of " << row.rows << " by " << row.columns
                                        << ", deep " << row.depth);
        const ProductDivision division = d3d12::divide(product_of(row));
        EXPECT_EQ(division.side, row.side);
        EXPECT_EQ(division.slices, row.slices);
        // All of the depth belongs to a slice, and none is empty.
        EXPECT_GE(division.slices * division.slice_depth, row.depth);
        EXPECT_LT((division.slices - 1) * division.slice_depth, row.depth);
        EXPECT_EQ(division.slice_depth % 16, 0u);
        const std::uint64_t elements = row.products * row.rows * row.columns;
        const std::uint64_t made =
            division.groups_per_slice * (division.side != 0 ? std::uint64_t{division.side} * division.side : 256 * 4);
        EXPECT_GE(made, elements);
    }
}

/// Tiles have a bit for each tap along a dimension, and a table of all taps.
TEST(ProductPlanning, LargeWindowsHaveNoTiles) {
    struct Window {
        std::array<std::uint32_t, 3> size;
        std::uint32_t side;
    };
    for (const auto& [size, side] : {Window{{1, 2, 32}, 64}, Window{{1, 1, 33}, 0}, Window{{33, 1, 1}, 0},
                                     Window{{4, 4, 4}, 64}, Window{{5, 4, 4}, 0}}) {
        SCOPED_TRACE(testing::Message() << size[0] << " by " << size[1] << " by " << size[2]);
        Product product = product_of({1, 64, 64, 1024, 0, 0});
        product.is_window = true;
        product.parameters.window.words = {1, size[0], size[1], size[2]};
        product.parameters.tap_count = size[0] * size[1] * size[2];
        EXPECT_EQ(d3d12::divide(product).side, side);
    }
}

TEST(ProductPlanning, SumsThatAreTooLongAreUnsupported) {
    EXPECT_FALSE(d3d12::unsupported_product(product_of({1, 4096, 4096, 16384, 0, 0})));
    EXPECT_FALSE(d3d12::unsupported_product(product_of({1, 1, 1, 1u << 27, 0, 0})));
    EXPECT_TRUE(d3d12::unsupported_product(product_of({1, 1, 1, (1u << 27) + 1, 0, 0})));
    // 64 slices of 2^24 elements are 2^32 bytes.
    EXPECT_FALSE(d3d12::unsupported_product(product_of({1, 4096, 4096, 64 * 16384, 0, 0})));
    EXPECT_TRUE(d3d12::unsupported_product(product_of({1, 4096, 4096, 65 * 16384, 0, 0})));
}

// ---- Matrices ----

using MatricesOnD3d12 = D3d12Test;

constexpr std::array real_types{DataType::float32, DataType::float16};
constexpr std::array byte_types{DataType::int8, DataType::uint8};
constexpr std::array integer_types{DataType::int32,  DataType::int16,  DataType::int8,
                                   DataType::uint32, DataType::uint16, DataType::uint8};

struct Shape {
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    std::uint32_t depth = 1;
    /// Sizes before the last two.
    core::Dimensions batches;
};

core::Dimensions sizes_of(const Shape& shape, std::uint32_t rows, std::uint32_t columns) {
    core::Dimensions sizes = shape.batches;
    sizes.insert(sizes.end(), {rows, columns});
    return sizes;
}

/// Packed, or laid out at random.
core::TensorDesc source_of(Random* layout, DataType type, const core::Dimensions& sizes) {
    return layout == nullptr ? tensor(type, sizes) : random_input(*layout, type, sizes);
}

core::TensorDesc target_of(Random* layout, DataType type, const core::Dimensions& sizes) {
    return layout == nullptr ? tensor(type, sizes) : random_output(*layout, type, sizes);
}

bool is_tiled(const Descriptor& descriptor) {
    return d3d12::find_binding(descriptor.schema->short_name())->plan(descriptor).dispatches[0].shader.shader ==
           "product_tiled";
}

/// Of any type: small numbers, whose sums FLOAT16 holds.
std::vector<core::Tensor> random_inputs(Random& random, const Descriptor& descriptor) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.name == "OutputScaleTensor") {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(100, 1000); }));
        } else if (slot.name.ends_with("ScaleTensor")) {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(0.25, 1); }));
        } else if (core::is_floating_point(slot.desc->data_type)) {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(-2, 2); }));
        } else if (core::bits_of(slot.desc->data_type) == 8) {
            inputs.push_back(random_bits(random, *slot.desc));
        } else {
            const double low = core::is_signed_integer(slot.desc->data_type) ? -9 : 0;
            inputs.push_back(drawn(*slot.desc, [&] { return std::floor(random.between_reals(low, 9)); }));
        }
    }
    return inputs;
}

void expect_like_reference(Engine& engine, Random& random, const Descriptor& descriptor) {
    tests::expect_like_reference(engine, descriptor, random_inputs(random, descriptor));
}

/// Transposed or not, and with an addend or none, by chance.
Descriptor gemm(Random& random, DataType type, const Shape& shape, Random* layout) {
    const bool is_a_transposed = random.chance(2);
    const bool is_b_transposed = random.chance(2);
    const core::Dimensions output_sizes = sizes_of(shape, shape.rows, shape.columns);
    std::vector<Setting> settings{{"ATensor", source_of(layout, type,
                                                        is_a_transposed ? sizes_of(shape, shape.depth, shape.rows)
                                                                        : sizes_of(shape, shape.rows, shape.depth))},
                                  {"BTensor", source_of(layout, type,
                                                        is_b_transposed ? sizes_of(shape, shape.columns, shape.depth)
                                                                        : sizes_of(shape, shape.depth, shape.columns))},
                                  {"OutputTensor", target_of(layout, type, output_sizes)},
                                  {"TransA", is_a_transposed ? 1 : 0},
                                  {"TransB", is_b_transposed ? 1 : 0},
                                  {"Alpha", random.chance(2) ? 1 : 0.75},
                                  {"Beta", random.chance(2) ? 1 : -0.5}};
    if (random.chance(2)) {
        settings.emplace_back("CTensor", source_of(layout, type, output_sizes));
    }
    return describe("GEMM", settings);
}

TEST_F(MatricesOnD3d12, RandomShapes) {
    Random random(1);
    for (int turn = 0; turn < 200 && !HasFailure(); ++turn) {
        const Shape shape{random.between(1, 20), random.between(1, 20), random.between(1, 20),
                          core::Dimensions(random.between(0, 2), random.between(1, 3))};
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_like_reference(engine(), random, gemm(random, random.one_of(real_types), shape, layout));
    }
}

/// Around the sides of tiles, and around what a turn is deep.
TEST_F(MatricesOnD3d12, EdgesOfTiles) {
    Random random(2);
    for (const std::uint32_t side : {64u, 128u}) {
        for (const std::uint32_t rows : {side - 1, side, side + 1}) {
            for (const std::uint32_t columns : {side - 1, side, side + 1}) {
                for (const std::uint32_t depth : {67u, 72u, 80u}) {
                    const Shape shape{rows, columns, depth, {}};
                    const Descriptor descriptor =
                        gemm(random, random.one_of(real_types), shape, random.chance(2) ? &random : nullptr);
                    EXPECT_TRUE(is_tiled(descriptor));
                    expect_like_reference(engine(), random, descriptor);
                }
            }
        }
    }
}

/// There are large tiles only in numbers.
TEST_F(MatricesOnD3d12, EdgesOfLargeTiles) {
    Random random(3);
    for (const Shape& shape : {Shape{65, 65, 1, {100}}, Shape{127, 129, 7, {5, 10}}, Shape{128, 128, 8, {100, 1}},
                               Shape{129, 127, 9, {50}}, Shape{66, 130, 17, {50}}}) {
        const DataType type = random.one_of(real_types);
        const Descriptor descriptor = gemm(random, type, shape, random.chance(2) ? &random : nullptr);
        const auto plan = d3d12::find_binding("GEMM")->plan(descriptor);
        EXPECT_EQ(plan.dispatches[0].shader.key(), type == DataType::float16
                                                       ? "product_tiled NUMBERS=0 WINDOW=0 PACKING=1 SIDE=128"
                                                       : "product_tiled NUMBERS=0 WINDOW=0 PACKING=0 SIDE=128");
        expect_like_reference(engine(), random, descriptor);
    }
}

/// The output of a tensor that is read column by column, or a single column: rows and columns change places.
TEST_F(MatricesOnD3d12, ColumnsThatLieSideBySide) {
    Random random(4);
    for (const DataType type : real_types) {
        for (const Shape& shape : {Shape{300, 1, 40, {2}}, Shape{70, 66, 65, {2}}, Shape{5, 3, 2, {}}}) {
            const core::Dimensions sizes = sizes_of(shape, shape.rows, shape.columns);
            core::Dimensions strides{1, shape.rows};
            if (sizes.size() == 3) {
                strides.insert(strides.begin(), shape.rows * shape.columns);
            }
            const Descriptor descriptor =
                with(gemm(random, type, shape, nullptr),
                     {{"OutputTensor", tensor(type, sizes, strides)}, {"CTensor", random_input(random, type, sizes)}});
            expect_like_reference(engine(), random, descriptor);
        }
    }
}

TEST_F(MatricesOnD3d12, LongSumsAreCutIntoSlices) {
    Random random(5);
    for (const Shape& shape : {Shape{8, 16, 40000, {}}, Shape{3, 5, 1025, {2}}, Shape{1, 1, 100000, {}}}) {
        for (const DataType type : real_types) {
            const Descriptor descriptor = gemm(random, type, shape, nullptr);
            EXPECT_EQ(d3d12::find_binding("GEMM")->plan(descriptor).dispatches.size(), 2u);
            expect_like_reference(engine(), random, descriptor);
        }
    }
}

TEST_F(MatricesOnD3d12, ActivationsFollow) {
    Random random(6);
    const Setting fused[] = {
        {"FusedActivation", activation("ACTIVATION_RELU")},
        {"FusedActivation", activation("ACTIVATION_ELU", {{"Alpha", 0.5}})},
        {"FusedActivation", activation("ACTIVATION_GELU")},
        {"FusedActivation", activation("ELEMENT_WISE_CLIP", {{"Min", -0.5}, {"Max", 0.75}})},
        {"FusedActivation", activation("ACTIVATION_SOFTMAX")},
        {"FusedActivation", activation("ACTIVATION_SOFTMAX1", {{"Axes", {0, 1}}})},
    };
    for (const Setting& setting : fused) {
        for (const Shape& shape : {Shape{5, 7, 3, {}}, Shape{70, 66, 65, {}}, Shape{4, 5, 1030, {}}}) {
            for (const DataType type : real_types) {
                expect_like_reference(engine(), random, with(gemm(random, type, shape, nullptr), {setting}));
            }
        }
    }
}

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

Descriptor integer_product(Random& random, std::string_view name, const Types& types, const Shape& shape,
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

Shape random_shape(Random& random) {
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
        expect_like_reference(engine(), random,
                              integer_product(random, "MATRIX_MULTIPLY_INTEGER", types, random_shape(random), layout));
    }
}

TEST_F(MatricesOnD3d12, QuantizedIntegers) {
    Random random(8);
    for (int turn = 0; turn < 150 && !HasFailure(); ++turn) {
        const Types types{random.one_of(byte_types), random.one_of(byte_types), random.one_of(byte_types)};
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_like_reference(
            engine(), random,
            integer_product(random, "QUANTIZED_LINEAR_MATRIX_MULTIPLY", types, random_shape(random), layout));
    }
}

TEST_F(MatricesOnD3d12, IntegersToReals) {
    Random random(9);
    for (int turn = 0; turn < 200 && !HasFailure(); ++turn) {
        const Types types{random.one_of(integer_types), random.one_of(integer_types), random.one_of(real_types)};
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_like_reference(
            engine(), random,
            integer_product(random, "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", types, random_shape(random), layout));
    }
}

/// Products of 255 * 255, which add up to more than 32 bits hold: INT32 wraps, quantised sums do not.
TEST_F(MatricesOnD3d12, SumsBeyondThirtyTwoBits) {
    for (const std::uint32_t depth : {33025u, 33026u, 70000u}) {
        for (const std::uint32_t columns : {3u, 70u}) {
            Random random(depth);
            const Shape shape{8, columns, depth, {}};
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

/// Numbers of 32 bits that lie further apart than 32 bits can say.
TEST_F(MatricesOnD3d12, DistantZeroPoints) {
    Random random(10);
    const Types types{DataType::int32, DataType::uint32, DataType::float32};
    const Shape shape{1, 1, 1, {}};
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

// ---- Windows ----

using ConvolutionsOnD3d12 = D3d12Test;

/// One spatial dimension.
struct Extent {
    std::uint32_t input = 1;
    std::uint32_t filter = 1;
    std::uint32_t stride = 1;
    std::uint32_t dilation = 1;
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t more = 0;

    [[nodiscard]] std::uint32_t reach() const { return (filter - 1) * dilation + 1; }
    [[nodiscard]] std::uint32_t output(bool is_backward) const {
        return more + (is_backward ? (input - 1) * stride + reach() - start - end
                                   : (input + start + end - reach()) / stride + 1);
    }
};

struct Windows {
    std::uint32_t batch = 1;
    std::uint32_t groups = 1;
    std::uint32_t group_inputs = 1;
    std::uint32_t group_outputs = 1;
    std::vector<Extent> extents;
    bool is_backward = false;
};

Extent random_extent(Random& random, std::uint32_t most, bool is_backward) {
    Extent extent;
    extent.filter = random.between(1, 3);
    extent.stride = random.between(1, 3);
    extent.dilation = random.between(1, 2);
    extent.start = random.between(0, 2);
    extent.end = random.between(0, 2);
    extent.more = random.chance(3) ? random.between(1, 2) : 0;
    // Backwards there must be something left when the padding is cut off.
    extent.input = is_backward ? random.between(5, most + 5) : random.between(extent.reach(), most + extent.reach());
    return extent;
}

core::Dimensions sizes_of(const Windows& windows, std::uint32_t outer, std::uint32_t inner,
                          std::uint32_t (*size)(const Extent&)) {
    core::Dimensions sizes{outer, inner};
    std::transform(windows.extents.begin(), windows.extents.end(), std::back_inserter(sizes), size);
    return sizes;
}

core::Dimensions input_sizes(const Windows& windows) {
    return sizes_of(windows, windows.batch, windows.groups * windows.group_inputs,
                    [](const Extent& extent) { return extent.input; });
}

core::Dimensions output_sizes(const Windows& windows) {
    core::Dimensions sizes{windows.batch, windows.groups * windows.group_outputs};
    for (const Extent& extent : windows.extents) {
        sizes.push_back(extent.output(windows.is_backward));
    }
    return sizes;
}

core::Dimensions filter_sizes(const Windows& windows) {
    const auto size = [](const Extent& extent) { return extent.filter; };
    return windows.is_backward ? sizes_of(windows, windows.groups * windows.group_inputs, windows.group_outputs, size)
                               : sizes_of(windows, windows.groups * windows.group_outputs, windows.group_inputs, size);
}

operators::FieldValue attribute(const Windows& windows, std::uint32_t Extent::*member) {
    std::vector<std::uint32_t> values;
    for (const Extent& extent : windows.extents) {
        values.push_back(extent.*member);
    }
    return values;
}

/// With a bias and an activation or without, and of either mode, by chance.
Descriptor convolution(Random& random, DataType type, const Windows& windows, Random* layout) {
    const core::Dimensions sizes = output_sizes(windows);
    std::vector<Setting> settings{{"InputTensor", source_of(layout, type, input_sizes(windows))},
                                  {"FilterTensor", source_of(layout, type, filter_sizes(windows))},
                                  {"OutputTensor", target_of(layout, type, sizes)},
                                  {"Mode", random.between(0, 1)},
                                  {"Direction", windows.is_backward ? 1 : 0},
                                  {"Strides", attribute(windows, &Extent::stride)},
                                  {"Dilations", attribute(windows, &Extent::dilation)},
                                  {"StartPadding", attribute(windows, &Extent::start)},
                                  {"EndPadding", attribute(windows, &Extent::end)},
                                  {"OutputPadding", attribute(windows, &Extent::more)},
                                  {"GroupCount", windows.groups}};
    if (random.chance(2)) {
        core::Dimensions bias(sizes.size(), 1);
        bias[1] = sizes[1];
        settings.emplace_back("BiasTensor", source_of(layout, type, bias));
    }
    if (random.chance(3)) {
        settings.emplace_back("FusedActivation", activation("ACTIVATION_SIGMOID"));
    }
    return describe("CONVOLUTION", settings);
}

Windows random_windows(Random& random, std::uint32_t channels, std::uint32_t most) {
    Windows windows;
    windows.is_backward = random.chance(2);
    windows.batch = random.between(1, 2);
    windows.groups = random.between(1, 3);
    windows.group_inputs = random.between(1, channels);
    windows.group_outputs = random.between(1, channels);
    const std::uint32_t rank = random.between(1, 3);
    for (std::uint32_t i = 0; i < rank; ++i) {
        windows.extents.push_back(random_extent(random, most, windows.is_backward));
    }
    return windows;
}

TEST_F(ConvolutionsOnD3d12, RandomShapes) {
    Random random(11);
    for (int turn = 0; turn < 300 && !HasFailure(); ++turn) {
        const Windows windows = random_windows(random, 4, 5);
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_like_reference(engine(), random, convolution(random, random.one_of(real_types), windows, layout));
    }
}

TEST_F(ConvolutionsOnD3d12, RandomShapesInTiles) {
    Random random(12);
    int tiled = 0;
    for (int turn = 0; turn < 60 && !HasFailure(); ++turn) {
        Windows windows = random_windows(random, 20, 9);
        windows.group_inputs += 10;
        windows.group_outputs += 8;
        windows.extents.resize(std::min<std::size_t>(windows.extents.size(), 2));
        Random* const layout = random.chance(2) ? &random : nullptr;
        const Descriptor descriptor = convolution(random, random.one_of(real_types), windows, layout);
        tiled += is_tiled(descriptor) ? 1 : 0;
        expect_like_reference(engine(), random, descriptor);
    }
    EXPECT_GT(tiled, 10);
}

/// More taps than a word has bits; windows in three dimensions; and more channels in a turn than taps.
TEST_F(ConvolutionsOnD3d12, LargeWindowsInTiles) {
    const Extent seven{20, 7, 2, 1, 3, 3, 1};
    const Extent four{9, 4, 1, 2, 3, 2, 0};
    const Extent three{12, 3, 2, 2, 1, 2, 0};
    const Extent one{40, 1, 1, 1, 0, 0, 0};
    const Extent wide{60, 32, 1, 1, 16, 15, 0};
    Random random(13);
    for (const std::vector<Extent>& extents :
         {std::vector{seven, seven}, std::vector{four, four, four}, std::vector{three, three, three},
          std::vector{one, one}, std::vector{wide}}) {
        for (const bool is_backward : {false, true}) {
            for (const DataType type : real_types) {
                Windows windows{1, 2, 9, 17, extents, is_backward};
                Descriptor descriptor = convolution(random, type, windows, nullptr);
                EXPECT_TRUE(is_tiled(descriptor)) << text_of(descriptor);
                expect_like_reference(engine(), random, descriptor);
            }
        }
    }
}

TEST_F(ConvolutionsOnD3d12, EdgesOfLargeTiles) {
    Random random(14);
    const Extent extent{65, 2, 1, 1, 1, 0, 0};
    for (const DataType type : real_types) {
        const Windows windows{3, 1, 3, 129, {extent, extent}, false};
        const Descriptor descriptor = convolution(random, type, windows, nullptr);
        const auto plan = d3d12::find_binding("CONVOLUTION")->plan(descriptor);
        EXPECT_EQ(plan.dispatches[0].shader.key(), type == DataType::float16
                                                       ? "product_tiled NUMBERS=0 WINDOW=1 PACKING=1 SIDE=128"
                                                       : "product_tiled NUMBERS=0 WINDOW=1 PACKING=0 SIDE=128");
        expect_like_reference(engine(), random, descriptor);
    }
}

TEST_F(ConvolutionsOnD3d12, ManyChannelsAreCutIntoSlices) {
    Random random(15);
    for (const std::uint32_t outputs : {3u, 9u}) {
        const Windows windows{1, 1, 3000, outputs, {{6, 3, 1, 1, 1, 1, 0}, {5, 2, 1, 1, 0, 0, 0}}, outputs == 9};
        const Descriptor descriptor = convolution(random, DataType::float32, windows, nullptr);
        EXPECT_EQ(d3d12::find_binding("CONVOLUTION")->plan(descriptor).dispatches.size(), 2u);
        expect_like_reference(engine(), random, descriptor);
    }
}

TEST_F(ConvolutionsOnD3d12, Integers) {
    Random random(16);
    int tiled = 0;
    for (int turn = 0; turn < 200 && !HasFailure(); ++turn) {
        const bool is_large = random.chance(4);
        Windows windows = random_windows(random, is_large ? 40 : 4, is_large ? 12 : 5);
        windows.is_backward = false;
        windows.extents.resize(std::min<std::size_t>(windows.extents.size(), 2));
        for (Extent& extent : windows.extents) {
            extent.more = 0;
            extent.input = std::max(extent.input, extent.reach());
        }
        const DataType input = random.one_of(byte_types);
        const DataType filter = random.one_of(byte_types);
        Random* const layout = random.chance(2) ? &random : nullptr;
        const core::Dimensions sizes = output_sizes(windows);
        // A tensor of three dimensions is one of height 1.
        Windows padded = windows;
        if (padded.extents.size() == 1) {
            padded.extents.insert(padded.extents.begin(), Extent());
        }
        std::vector<Setting> settings{{"InputTensor", source_of(layout, input, input_sizes(windows))},
                                      {"FilterTensor", source_of(layout, filter, filter_sizes(windows))},
                                      {"OutputTensor", target_of(layout, DataType::int32, sizes)},
                                      {"DimensionCount", 2},
                                      {"Strides", attribute(padded, &Extent::stride)},
                                      {"Dilations", attribute(padded, &Extent::dilation)},
                                      {"StartPadding", attribute(padded, &Extent::start)},
                                      {"EndPadding", attribute(padded, &Extent::end)},
                                      {"GroupCount", windows.groups}};
        if (random.chance(2)) {
            settings.emplace_back("InputZeroPointTensor", tensor(input, {1, 1}));
        }
        if (random.chance(2)) {
            settings.emplace_back("FilterZeroPointTensor", tensor(filter, {1, random.chance(2) ? sizes[1] : 1}));
        }
        const Descriptor descriptor = describe("CONVOLUTION_INTEGER", settings);
        tiled += is_tiled(descriptor) ? 1 : 0;
        expect_like_reference(engine(), random, descriptor);
    }
    EXPECT_GT(tiled, 5);
}

/// What shaders cannot count is said.
TEST_F(ConvolutionsOnD3d12, DistancesBeyondThirtyTwoBitsAreUnsupported) {
    struct Far {
        Extent extent;
        bool is_backward;
    };
    const Far rows[] = {
        {{10, 2, 2147483650u, 1, 0, 4294967295u, 0}, false},
        {{2, 3, 1, 2147483648u, 4294967295u, 0, 0}, true},
    };
    for (const auto& [extent, is_backward] : rows) {
        Random random(17);
        const Windows windows{1, 1, 1, 1, {{3, 1, 1, 1, 0, 0, 0}, {3, 1, 1, 1, 0, 0, 0}}, is_backward};
        const Descriptor plain = convolution(random, DataType::float32, windows, nullptr);
        core::Dimensions input = plain.tensor("InputTensor")->sizes;
        core::Dimensions filter = plain.tensor("FilterTensor")->sizes;
        core::Dimensions output = plain.tensor("OutputTensor")->sizes;
        input.back() = extent.input;
        filter.back() = extent.filter;
        const std::uint64_t reach = std::uint64_t{extent.filter - 1} * extent.dilation + 1;
        const std::uint64_t padded = std::uint64_t{extent.input} + extent.start + extent.end;
        output.back() = static_cast<std::uint32_t>(is_backward ? std::uint64_t{extent.input - 1} * extent.stride +
                                                                     reach - extent.start - extent.end
                                                               : (padded - reach) / extent.stride + 1);
        const Descriptor descriptor = with(plain, {{"InputTensor", tensor(DataType::float32, input)},
                                                   {"FilterTensor", tensor(DataType::float32, filter)},
                                                   {"OutputTensor", tensor(DataType::float32, output)},
                                                   {"Strides", {1, extent.stride}},
                                                   {"Dilations", {1, extent.dilation}},
                                                   {"StartPadding", {0, extent.start}},
                                                   {"EndPadding", {0, extent.end}}});
        const auto rejection = operators::validate(descriptor, core::highest_feature_level);
        ASSERT_FALSE(rejection) << rejection->message;
        EXPECT_TRUE(engine().unsupported(descriptor));
    }
}

}  // namespace
}  // namespace dmlconform::tests
