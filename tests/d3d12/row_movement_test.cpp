// Tests of copies of rows on the D3D12 engine: windows whose rows end within 16 bytes of the output.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::row_movement_test {
namespace {

using core::DataType;
using operators::Descriptor;

using RowMovementOnD3d12 = D3d12Test;

constexpr DataType types[] = {DataType::float64, DataType::float32, DataType::float16, DataType::int8};

/// A window of SLICE1.
struct Window {
    core::Dimensions input;
    core::Dimensions offsets;
    core::Dimensions sizes;
    std::vector<std::int32_t> strides;
};

Descriptor slice_of(DataType type, const Window& window) {
    core::Dimensions output;
    for (std::size_t d = 0; d < window.sizes.size(); ++d) {
        const auto step = static_cast<std::uint32_t>(std::abs(window.strides[d]));
        output.push_back((window.sizes[d] - 1) / step + 1);
    }
    return describe("SLICE1", {{"InputTensor", tensor(type, window.input)},
                               {"OutputTensor", tensor(type, output)},
                               {"InputWindowOffsets", window.offsets},
                               {"InputWindowSizes", window.sizes},
                               {"InputWindowStrides", window.strides}});
}

d3d12::DispatchPlan plan_of(const Descriptor& descriptor) {
    return d3d12::find_binding(descriptor.schema->short_name())->plan(descriptor);
}

std::string_view shader_of(const Descriptor& descriptor) {
    return plan_of(descriptor).dispatches.at(0).shader.shader;
}

void expect_windows_like_reference(Engine& engine, const std::vector<Window>& windows) {
    Random random(1);
    for (const Window& window : windows) {
        for (const DataType type : types) {
            const Descriptor slice = slice_of(type, window);
            std::vector<core::Tensor> inputs;
            inputs.push_back(random_bits(random, *slice.tensor("InputTensor")));
            expect_like_reference(engine, slice, inputs);
        }
    }
}

/// Rows that end at every position within a vector of 16 bytes, and outputs with one to five dimensions.
TEST_F(RowMovementOnD3d12, RowsEndAnywhere) {
    std::vector<Window> windows;
    for (std::uint32_t size = 16; size < 34; ++size) {
        windows.push_back({{7, 40}, {1, size % 5}, {5, size}, {1, 1}});
        windows.push_back({{7, 40}, {0, 0}, {7, size}, {-1, 1}});
        windows.push_back({{3, 4, 3, 5, 36}, {0, 1, 0, 1, 2}, {3, 3, 2, 3, size}, {-1, 1, -1, 1, 1}});
    }
    windows.push_back({{100}, {3}, {77}, {1}});
    expect_windows_like_reference(engine(), windows);
}

/// 32-bit units need not be adjacent.
TEST_F(RowMovementOnD3d12, RowsAreWalkedInSteps) {
    std::vector<Window> windows;
    for (const std::int32_t stride : {-1, 2, -2, 3, -7}) {
        windows.push_back({{6, 150}, {1, 3}, {5, 140}, {1, stride}});
        windows.push_back({{3, 3, 6, 47}, {0, 0, 1, 0}, {3, 2, 4, 47}, {1, -1, 1, stride}});
    }
    expect_windows_like_reference(engine(), windows);
}

/// Several thread groups, whose rows are in several planes.
TEST_F(RowMovementOnD3d12, PlanesEndAnywhere) {
    expect_windows_like_reference(engine(), {{{260, 130}, {1, 1}, {251, 127}, {1, 1}},
                                             {{3, 90, 130}, {0, 1, 3}, {3, 83, 119}, {-1, -1, 1}},
                                             {{70, 3, 3, 130}, {1, 0, 1, 0}, {66, 2, 2, 129}, {1, 1, 1, 1}},
                                             {{2, 9, 9001}, {0, 1, 1}, {2, 7, 8999}, {1, 1, -1}}});
}

/// Row indices are computed by multiplication with an inverse for up to 2^20 rows, and by division for more. Inverses
/// of powers of two and of their neighbours are rounded in different directions.
TEST_F(RowMovementOnD3d12, OffsetsAtTheEndsOfTheirRange) {
    constexpr std::uint32_t limit = std::uint32_t{1} << 20;
    Random random(2);
    for (const std::uint32_t rows : {limit, limit + 1}) {
        const Descriptor slice = slice_of(DataType::float32, {{rows, 6}, {0, 1}, {rows, 5}, {1, 1}});
        std::vector<core::Tensor> inputs;
        inputs.push_back(random_bits(random, *slice.tensor("InputTensor")));
        expect_like_reference(engine(), slice, inputs);
    }
    for (const std::uint32_t columns : {31u, 32u, 33u, 1023u, 1024u, 1025u, 65535u, 65536u, 65537u, 149999u}) {
        const std::uint32_t rows = 300000 / columns;
        expect_windows_like_reference(engine(), {{{rows, columns + 1}, {0, 1}, {rows, columns}, {1, 1}}});
    }
}

/// Row indices are divided if there are more than 2^20, or if one more row would not fit 32 bits. Tensors this large
/// exist only on paper here.
TEST(RowMovement, LargeNumbersAreDivided) {
    constexpr std::uint32_t most_rows = std::uint32_t{1} << 20;
    constexpr std::uint32_t size_limit = std::uint32_t{1} << 31;
    struct Row {
        std::uint32_t rows;
        std::uint32_t size;
        bool has_inverse;
    };
    for (const auto& [rows, size, has_inverse] : {Row{most_rows, 29, true}, Row{most_rows + 1, 29, false},
                                                  Row{1, size_limit - 1, true}, Row{1, size_limit + 1, false}}) {
        SCOPED_TRACE(testing::Message() << rows << " rows of " << size);
        const auto plan = plan_of(slice_of(DataType::int8, {{rows, size + 1}, {0, 1}, {rows, size}, {1, 1}}));
        ASSERT_EQ(plan.dispatches.at(0).shader.shader, "movement_rows");
        const auto& parameters = plan.dispatches[0].parameters;
        const auto at = std::find(parameters.begin() + 1, parameters.end(), size);
        ASSERT_LT(at + 2, parameters.end());
        EXPECT_EQ(at[2] != 0, has_inverse);
    }
}

TEST(RowMovement, WhatIsNoRowHasOtherShaders) {
    EXPECT_EQ(shader_of(slice_of(DataType::float32, {{9, 9}, {1, 1}, {7, 5}, {1, 1}})), "movement_rows");
    EXPECT_EQ(shader_of(slice_of(DataType::float32, {{9, 9}, {1, 1}, {7, 3}, {1, 1}})), "movement");
    EXPECT_EQ(shader_of(slice_of(DataType::int8, {{9, 19}, {1, 1}, {7, 17}, {1, 1}})), "movement_rows");
    EXPECT_EQ(shader_of(slice_of(DataType::int8, {{9, 19}, {1, 1}, {7, 15}, {1, 1}})), "movement");
    EXPECT_EQ(shader_of(slice_of(DataType::int8, {{9, 19}, {1, 1}, {7, 17}, {1, -1}})), "movement");
    EXPECT_EQ(shader_of(slice_of(DataType::float64, {{9, 19}, {1, 1}, {7, 17}, {1, 1}})), "movement");
}

}  // namespace
}  // namespace dmlconform::tests::row_movement_test
