// Tests how products are planned: tiles, and slices of long sums.
#include <gtest/gtest.h>

#include <array>

#include "engine/d3d12/product/product.h"

namespace dmlconform::tests::product_planning_test {
namespace {

using d3d12::Product;
using d3d12::ProductDivision;

/// An entry of the planner's table: a number of products with a shape, the side of the tiles that compute them, and the
/// number of slices of the depth.
struct Shared {
    std::uint64_t products;
    std::uint32_t rows;
    std::uint32_t columns;
    std::uint64_t depth;
    std::uint32_t side;
    std::uint64_t slices;
    std::uint32_t numbers = PRODUCT_REAL;
};

const Shared shared[] = {
    // Too little work for tiles, or matrices that are too narrow.
    {1, 64, 64, 63, 0, 1},
    {1, 7, 4096, 127, 0, 1},
    {1, 4096, 15, 127, 0, 1},
    {1000, 1, 3136, 9, 0, 1},
    {1, 64, 64, 64, 64, 1},
    {1, 8, 16, 2048, 64, 16},
    // Large tiles are used only if there are many of them.
    {1, 1280, 1280, 64, 128, 1},
    {1, 1280, 1152, 64, 64, 1},
    {100, 65, 65, 64, 128, 1},
    {100, 64, 65, 64, 64, 1},
    {1, 4096, 4096, 4096, 128, 1},
    // Long sums are split into enough slices to keep a large GPU busy, each with a depth of at least 128.
    {1, 64, 64, 255, 64, 1},
    {1, 64, 64, 256, 64, 2},
    {1, 64, 128, 1u << 20, 64, 256},
    {1, 1, 1, 100000, 0, 481},
    {1, 1, 1, 16384, 0, 128},
    // No sum is too long for one thread.
    {1, 4096, 4096, 16384, 128, 1},
    {1, 4096, 4096, 16385, 128, 2},
    {1, 1, 1u << 20, 16384, 0, 1},
    {1, 1, 1u << 20, 16385, 0, 2},
    // Small tiles for 8-bit integers, if there would be few larger ones, the depth is a multiple of a k-step, and sums
    // are short enough. There are fewer slices because the four parts of a thread group share each.
    {1, 64, 3136, 256, 32, 1, PRODUCT_INTEGER},
    {1, 64, 3136, 256, 64, 2, PRODUCT_MIXED},
    {1, 64, 3136, 255, 64, 1, PRODUCT_INTEGER},
    {1, 64, 3136, 1024, 32, 1, PRODUCT_INTEGER},
    {1, 64, 3136, 1056, 64, 8, PRODUCT_INTEGER},
    {1, 64, 8192, 256, 64, 2, PRODUCT_INTEGER},
    {1, 64, 64, 1024, 32, 4, PRODUCT_INTEGER},
    // Large tiles for 8-bit integers, if there are enough slices and little padding.
    {1, 512, 392, 4608, 128, 16, PRODUCT_INTEGER},
    {1, 512, 392, 4608, 64, 9, PRODUCT_REAL},
    {1, 512, 392, 3072, 64, 9, PRODUCT_INTEGER},
    {1, 130, 2048, 4608, 64, 5, PRODUCT_INTEGER},
    // Large tiles also require memory for the integer sums.
    {1, 4096, 4096, 4096, 128, 1, PRODUCT_INTEGER},
    {1, 16384, 8192, 512, 128, 1, PRODUCT_INTEGER},
    {1, 16384, 8192, 520, 64, 1, PRODUCT_INTEGER},
};

Product product_of(const Shared& row) {
    Product product;
    product.numbers = row.numbers;
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
        // Slices cover the whole depth, and none is empty.
        EXPECT_GE(division.slices * division.slice_depth, row.depth);
        EXPECT_LT((division.slices - 1) * division.slice_depth, row.depth);
        EXPECT_EQ(division.slice_depth % 16, 0u);
        const std::uint64_t elements = row.products * row.rows * row.columns;
        const std::uint64_t made =
            division.groups_per_slice * (division.side != 0 ? std::uint64_t{division.side} * division.side : 256 * 4);
        EXPECT_GE(made, elements);
    }
}

/// Tiles use one bit per filter element along a dimension, and a table of all filter elements.
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

/// Slices need a temporary for their sums. Tiles of 128 by 128 integers also park sums there if a slice has more than
/// 512 terms.
TEST(ProductPlanning, SlicesAndParkedSums) {
    struct Row {
        Shared shared;
        std::uint64_t words;
    };
    const Row rows[] = {{{1, 4096, 4096, 512, 128, 1, PRODUCT_INTEGER}, 0},
                        {{1, 4096, 4096, 520, 128, 1, PRODUCT_INTEGER}, 4096 * 4096},
                        {{1, 4096, 4096, 520, 128, 1, PRODUCT_REAL}, 0},
                        {{1, 130, 2048, 4608, 64, 5, PRODUCT_INTEGER}, 5 * 130 * 2048}};
    for (const auto& [shared, words] : rows) {
        SCOPED_TRACE(testing::Message() << shared.rows << " by " << shared.columns << ", deep " << shared.depth);
        d3d12::DispatchPlan plan;
        d3d12::add_product(plan, product_of(shared));
        const std::uint64_t bytes = plan.temporaries.empty() ? 0 : plan.temporaries.front();
        EXPECT_EQ(bytes, words * 4);
    }
}

TEST(ProductPlanning, SumsThatAreTooLongAreUnsupported) {
    EXPECT_FALSE(d3d12::unsupported_product(product_of({1, 4096, 4096, 16384, 0, 0})));
    EXPECT_FALSE(d3d12::unsupported_product(product_of({1, 1, 1, 1u << 27, 0, 0})));
    EXPECT_TRUE(d3d12::unsupported_product(product_of({1, 1, 1, (1u << 27) + 1, 0, 0})));
    // 64 slices of 2^24 elements have 2^32 bytes.
    EXPECT_FALSE(d3d12::unsupported_product(product_of({1, 4096, 4096, 64 * 16384, 0, 0})));
    EXPECT_TRUE(d3d12::unsupported_product(product_of({1, 4096, 4096, 65 * 16384, 0, 0})));
}

}  // namespace
}  // namespace dmlconform::tests::product_planning_test
