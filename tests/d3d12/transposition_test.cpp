// Tests of copies by tiles on the D3D12 engine: neighbours in the output are far apart in the source.
#include <cstddef>
#include <string_view>
#include <vector>

#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::transposition_test {
namespace {

using core::DataType;
using operators::Descriptor;

using TranspositionOnD3d12 = D3d12Test;

constexpr DataType types[] = {DataType::float64, DataType::float32, DataType::float16, DataType::int64,
                              DataType::int16,   DataType::int8,    DataType::uint32,  DataType::uint8};

/// Sizes of a tensor, and its dimensions in the order of the input's memory, outermost first. The gaps are the
/// numbers of unused elements in memory after each dimension.
struct Layout {
    core::Dimensions sizes;
    std::vector<std::size_t> input_order;
    std::uint32_t input_gap = 0;
    std::uint32_t output_gap = 0;
};

core::TensorDesc laid_out(DataType type, const core::Dimensions& sizes, const std::vector<std::size_t>& order,
                          std::uint32_t gap) {
    core::Dimensions strides(sizes.size());
    std::uint32_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        strides[order[i]] = stride;
        stride *= sizes[order[i]] + gap;
    }
    return tensor(type, sizes, strides);
}

Descriptor copy_of(std::string_view op, DataType type, const Layout& layout) {
    std::vector<std::size_t> output_order;
    for (std::size_t d = 0; d < layout.sizes.size(); ++d) {
        output_order.push_back(d);
    }
    return describe(op, {{"InputTensor", laid_out(type, layout.sizes, layout.input_order, layout.input_gap)},
                         {"OutputTensor", laid_out(type, layout.sizes, output_order, layout.output_gap)}});
}

std::string_view shader_of(const Descriptor& descriptor) {
    return d3d12::find_binding(descriptor.schema->short_name())->plan(descriptor).dispatches.at(0).shader.shader;
}

/// Whole and incomplete tiles, for every width of elements.
TEST_F(TranspositionOnD3d12, CopiesByTiles) {
    const Layout layouts[] = {
        {{64, 128}, {1, 0}},
        {{132, 260}, {1, 0}},
        {{132, 260}, {1, 0}, 4, 8},
        {{2, 68, 3, 132}, {3, 2, 0, 1}},
        {{3, 2, 132, 68}, {3, 1, 0, 2}, 4},
        {{2, 3, 68, 136}, {0, 1, 3, 2}, 0, 4},
    };
    Random random(1);
    for (const Layout& layout : layouts) {
        for (const DataType type : types) {
            const Descriptor copy = copy_of("ELEMENT_WISE_IDENTITY", type, layout);
            EXPECT_EQ(shader_of(copy), "transposition") << text_of(copy);
            std::vector<core::Tensor> inputs;
            inputs.push_back(random_bits(random, *copy.tensor("InputTensor")));
            EXPECT_EQ(elements_of(run_on(engine(), copy, inputs)[0]), elements_of(inputs[0])) << text_of(copy);
        }
    }
}

/// A last row of tiles that ends within a 32-bit word of the source.
TEST_F(TranspositionOnD3d12, CopiesColumnsThatEndWithinAWord) {
    Random random(2);
    for (const std::string_view op : {"ELEMENT_WISE_IDENTITY", "ACTIVATION_IDENTITY"}) {
        for (const DataType type : types) {
            const core::TensorDesc from = tensor(type, {131, 132}, {1, 132});
            const Descriptor copy = describe(op, {{"InputTensor", from}, {"OutputTensor", tensor(type, {131, 132})}});
            if (operators::validate(copy, core::highest_feature_level)) {
                continue;  // The activation does not support every type.
            }
            EXPECT_EQ(shader_of(copy), "transposition") << text_of(copy);
            std::vector<core::Tensor> inputs;
            inputs.push_back(random_bits(random, from));
            EXPECT_EQ(elements_of(run_on(engine(), copy, inputs)[0]), elements_of(inputs[0])) << text_of(copy);
        }
    }
}

/// Windows begin anywhere. If that is within a 32-bit word, narrow elements are not copied by tiles.
TEST_F(TranspositionOnD3d12, CopiesWindows) {
    Random random(3);
    for (const std::uint32_t offset : {0u, 4u, 5u}) {
        for (const DataType type : types) {
            const core::TensorDesc from = laid_out(type, {1, 1, 200, 150}, {0, 1, 3, 2}, 0);
            const Descriptor slice = describe("SLICE1", {{"InputTensor", from},
                                                         {"OutputTensor", tensor(type, {1, 1, 140, 132})},
                                                         {"InputWindowOffsets", {0, 0, offset, 3}},
                                                         {"InputWindowSizes", {1, 1, 140, 132}},
                                                         {"InputWindowStrides", {1, 1, 1, 1}}});
            const bool is_whole = offset % 4 == 0 || core::bytes_of(type) >= 4;
            EXPECT_EQ(shader_of(slice), is_whole ? "transposition" : "movement") << text_of(slice);
            std::vector<core::Tensor> inputs;
            inputs.push_back(random_bits(random, from));
            expect_like_reference(engine(), slice, inputs);
        }
    }
}

/// Scaled elements are computed instead of copied, and small tensors or nearby elements are not worth a tile.
TEST_F(TranspositionOnD3d12, OtherCopiesHaveOtherShaders) {
    const Layout transposed{{64, 64}, {1, 0}};
    Descriptor scaled = copy_of("ELEMENT_WISE_IDENTITY", DataType::float32, transposed);
    EXPECT_EQ(shader_of(scaled), "transposition");
    scaled = describe("ELEMENT_WISE_IDENTITY", {{"InputTensor", *scaled.tensor("InputTensor")},
                                                {"OutputTensor", *scaled.tensor("OutputTensor")},
                                                {"ScaleBias", operators::ScaleBias{2, 1}}});
    EXPECT_EQ(shader_of(scaled), "element_wise");
    EXPECT_EQ(shader_of(copy_of("ELEMENT_WISE_IDENTITY", DataType::float32, {{15, 64}, {1, 0}})), "element_wise");
    EXPECT_EQ(shader_of(copy_of("ELEMENT_WISE_IDENTITY", DataType::float32, {{64, 7}, {1, 0}})), "element_wise");
    EXPECT_EQ(shader_of(copy_of("ELEMENT_WISE_IDENTITY", DataType::float32, {{64, 64}, {0, 1}})), "element_wise");
}

}  // namespace
}  // namespace dmlconform::tests::transposition_test
