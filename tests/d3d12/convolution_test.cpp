// Tests of convolutions on the D3D12 engine: windows of all shapes and layouts, forward and backward, of reals and
// integers.
#include <algorithm>
#include <iterator>

#include "tests/d3d12/extent.h"
#include "tests/d3d12/products.h"

namespace dmlconform::tests::convolution_test {
namespace {

using core::DataType;
using operators::Descriptor;

using ConvolutionsOnD3d12 = D3d12Test;

struct Windows {
    std::uint32_t batch = 1;
    std::uint32_t groups = 1;
    std::uint32_t group_inputs = 1;
    std::uint32_t group_outputs = 1;
    std::vector<Extent> extents;
    bool is_backward = false;
};

Extent random_extent(Random& random, std::uint32_t most, bool is_backward) {
    Extent extent = random_windows(random);
    extent.more = random.chance(3) ? random.between(1, 2) : 0;
    // For backward convolutions, some output must remain after the padding is cut off.
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

/// A convolution whose mode, bias and activation are chosen at random.
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
        expect_product_like_reference(engine(), random,
                                      convolution(random, random.one_of(real_types), windows, layout));
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
        expect_product_like_reference(engine(), random, descriptor);
    }
    EXPECT_GT(tiled, 10);
}

/// More filter elements than a 32-bit word has bits; windows in three dimensions; more channels than filter elements in
/// a k-step.
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
                expect_product_like_reference(engine(), random, descriptor);
            }
        }
    }
}

TEST_F(ConvolutionsOnD3d12, EdgesOfLargeTiles) {
    Random random(14);
    const Extent extent{65, 2, 1, 1, 1, 0, 0};
    for (const DataType type : real_types) {
        // Complete k-steps have eight channels.
        for (const std::uint32_t channels : {4u, 8u}) {
            const Windows windows{3, 1, channels, 129, {extent, extent}, false};
            const Descriptor descriptor = convolution(random, type, windows, nullptr);
            EXPECT_EQ(tiles_of(descriptor), channels == 8 ? "SIDE=128 WHOLE=1" : "SIDE=128 WHOLE=0");
            expect_product_like_reference(engine(), random, descriptor);
        }
    }
}

TEST_F(ConvolutionsOnD3d12, ManyChannelsAreCutIntoSlices) {
    Random random(15);
    for (const std::uint32_t outputs : {3u, 9u}) {
        const Windows windows{1, 1, 3000, outputs, {{6, 3, 1, 1, 1, 1, 0}, {5, 2, 1, 1, 0, 0, 0}}, outputs == 9};
        const Descriptor descriptor = convolution(random, DataType::float32, windows, nullptr);
        EXPECT_EQ(d3d12::find_binding("CONVOLUTION")->plan(descriptor).dispatches.size(), 2u);
        expect_product_like_reference(engine(), random, descriptor);
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
        // A tensor with three dimensions is treated as one of height 1.
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
        expect_product_like_reference(engine(), random, descriptor);
    }
    EXPECT_GT(tiled, 5);
}

/// Distances that shaders cannot represent are reported as unsupported.
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
        core::Dimensions input = plain.sizes("InputTensor");
        core::Dimensions filter = plain.sizes("FilterTensor");
        core::Dimensions output = plain.sizes("OutputTensor");
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
}  // namespace dmlconform::tests::convolution_test
