// Tests of GEMM on the D3D12 engine: matrices of all shapes and layouts.
#include "tests/d3d12/matrices.h"
#include "tests/d3d12/products.h"

namespace dmlconform::tests::gemm_test {
namespace {

using core::DataType;
using operators::Descriptor;

using MatricesOnD3d12 = D3d12Test;

/// A random GEMM: with or without transposition and with or without an addend.
Descriptor gemm(Random& random, DataType type, const MatrixShape& shape, Random* layout) {
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
        const MatrixShape shape{random.between(1, 20), random.between(1, 20), random.between(1, 20),
                                core::Dimensions(random.between(0, 2), random.between(1, 3))};
        Random* const layout = random.chance(2) ? &random : nullptr;
        expect_product_like_reference(engine(), random, gemm(random, random.one_of(real_types), shape, layout));
    }
}

/// Sizes around the side of tiles, and depths around that of a k-step.
TEST_F(MatricesOnD3d12, EdgesOfTiles) {
    Random random(2);
    for (const std::uint32_t side : {64u, 128u}) {
        for (const std::uint32_t rows : {side - 1, side, side + 1}) {
            for (const std::uint32_t columns : {side - 1, side, side + 1}) {
                for (const std::uint32_t depth : {67u, 72u, 80u}) {
                    const MatrixShape shape{rows, columns, depth, {}};
                    const Descriptor descriptor =
                        gemm(random, random.one_of(real_types), shape, random.chance(2) ? &random : nullptr);
                    EXPECT_TRUE(is_tiled(descriptor));
                    expect_product_like_reference(engine(), random, descriptor);
                }
            }
        }
    }
}

/// Large tiles are used only for large outputs.
TEST_F(MatricesOnD3d12, EdgesOfLargeTiles) {
    Random random(3);
    for (const MatrixShape& shape :
         {MatrixShape{65, 65, 1, {100}}, MatrixShape{127, 129, 7, {5, 10}}, MatrixShape{128, 128, 8, {100, 1}},
          MatrixShape{129, 127, 9, {50}}, MatrixShape{66, 130, 17, {50}}}) {
        const DataType type = random.one_of(real_types);
        const Descriptor descriptor = gemm(random, type, shape, random.chance(2) ? &random : nullptr);
        EXPECT_EQ(tiles_of(descriptor), shape.depth == 8 ? "SIDE=128 WHOLE=1" : "SIDE=128 WHOLE=0");
        expect_product_like_reference(engine(), random, descriptor);
    }
}

/// For an output that is column-major or a single column, rows and columns are swapped.
TEST_F(MatricesOnD3d12, ColumnsThatLieSideBySide) {
    Random random(4);
    for (const DataType type : real_types) {
        for (const MatrixShape& shape :
             {MatrixShape{300, 1, 40, {2}}, MatrixShape{70, 66, 65, {2}}, MatrixShape{5, 3, 2, {}}}) {
            const core::Dimensions sizes = sizes_of(shape, shape.rows, shape.columns);
            core::Dimensions strides{1, shape.rows};
            if (sizes.size() == 3) {
                strides.insert(strides.begin(), shape.rows * shape.columns);
            }
            const Descriptor descriptor =
                with(gemm(random, type, shape, nullptr),
                     {{"OutputTensor", tensor(type, sizes, strides)}, {"CTensor", random_input(random, type, sizes)}});
            expect_product_like_reference(engine(), random, descriptor);
        }
    }
}

TEST_F(MatricesOnD3d12, LongSumsAreCutIntoSlices) {
    Random random(5);
    for (const MatrixShape& shape :
         {MatrixShape{8, 16, 40000, {}}, MatrixShape{3, 5, 1025, {2}}, MatrixShape{1, 1, 100000, {}}}) {
        for (const DataType type : real_types) {
            const Descriptor descriptor = gemm(random, type, shape, nullptr);
            EXPECT_EQ(d3d12::find_binding("GEMM")->plan(descriptor).dispatches.size(), 2u);
            expect_product_like_reference(engine(), random, descriptor);
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
        for (const MatrixShape& shape :
             {MatrixShape{5, 7, 3, {}}, MatrixShape{70, 66, 65, {}}, MatrixShape{4, 5, 1030, {}}}) {
            for (const DataType type : real_types) {
                expect_product_like_reference(engine(), random, with(gemm(random, type, shape, nullptr), {setting}));
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::gemm_test
