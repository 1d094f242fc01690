// Tests of resampling and regions of interest on the reference: neighbours of a position, the effects of FP32 rounding,
// and gradients as the transpose of the forward operator.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/cpu/regions/regions.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::regions_test {
namespace {

using core::DataType;
using core::Tensor;
using cpu::Interval;
using cpu::window::Between;
using cpu::window::Reading;
using cpu::window::Sample;
using cpu::window::Weight;
using operators::Descriptor;

// ---- around a position ----------------------------------------------------------------------------------------------

std::vector<std::vector<double>> listed(const std::vector<Between>& parts) {
    std::vector<std::vector<double>> result;
    for (const Between& part : parts) {
        result.push_back({static_cast<double>(part.first), static_cast<double>(part.second), part.from, part.to});
    }
    return result;
}

TEST(Interpolation, PartsOfAWay) {
    using Parts = std::vector<std::vector<double>>;
    using cpu::window::between;
    using cpu::window::steps_between;
    EXPECT_EQ(listed(between(1.25, 1.5, 4)), (Parts{{1, 2, 0.25, 0.5}}));
    EXPECT_EQ(listed(between(0.75, 1.5, 4)), (Parts{{0, 1, 0.75, 1}, {1, 2, 0, 0.5}}));
    EXPECT_EQ(listed(between(-5, -0.5, 4)), (Parts{{0, 1, 0, 0}}));
    EXPECT_EQ(listed(between(2.5, 70, 4)), (Parts{{2, 3, 0.5, 1}, {3, 3, 0, 0}}));
    EXPECT_EQ(listed(steps_between(-0.75, -0.5, 4)), (Parts{{0, 0, 0.25, 0.5}}));
    EXPECT_EQ(listed(steps_between(3.5, 3.5, 4)), (Parts{{3, 3, 0.5, 0.5}}));
    EXPECT_EQ(listed(steps_between(2, 2, 4)), (Parts{{2, 3, 0, 0}}));
}

Sample sample_at(double low, double position, double high, Reading reading) {
    Sample sample{.position = position, .range = Interval(low, high, false)};
    find_neighbours(sample, 5, reading, true);
    return sample;
}

TEST(Interpolation, NearestElements) {
    struct Row {
        Reading reading;
        double position;
        std::int64_t element;
        std::int64_t first;
        std::int64_t last;
    };
    // FP32 adds one half to the coordinate, so coordinates close to a half may be rounded either way.
    for (const Row& row :
         {Row{Reading::nearest, 1.25, 1, 1, 1}, Row{Reading::nearest, 1.5, 2, 1, 2},
          Row{Reading::nearest, 2.5, 3, 2, 3}, Row{Reading::nearest, -7, 0, 0, 0},
          Row{Reading::nearest, 1.5 - 0x1p-30, 1, 1, 2}, Row{Reading::below, 1.75, 1, 1, 1},
          Row{Reading::below, 3, 3, 3, 3}, Row{Reading::above, 1.25, 2, 2, 2}, Row{Reading::above, 9, 4, 4, 4}}) {
        SCOPED_TRACE(row.position);
        const Sample sample = sample_at(row.position, row.position, row.position, row.reading);
        EXPECT_EQ(sample.at.first, row.element);
        EXPECT_EQ(sample.around.front().first, row.first);
        EXPECT_EQ(sample.around.back().first, row.last);
    }
    EXPECT_EQ(sample_at(2.999, 3, 3.001, Reading::below).around.size(), 2u);
}

TEST(Interpolation, Weights) {
    const auto weights = weights_of(sample_at(0.9, 1, 1.1, Reading::linear));
    ASSERT_EQ(weights.size(), 3u);
    double sum = 0;
    for (const Weight& weight : weights) {
        sum += weight.value;
        const bool here = weight.element == 1;
        EXPECT_NEAR(weight.range.low, here ? 0.9 : 0, 1e-6) << weight.element;
        EXPECT_NEAR(weight.range.high, here ? 1 : 0.1, 1e-6) << weight.element;
        EXPECT_EQ(weight.value, here ? 1 : 0);
    }
    EXPECT_EQ(sum, 1);
}

// ---- regions -----------------------------------------------------------------------------------------------------

struct Region {
    double x1;
    double x2;
    std::uint32_t outputs;
    double scale = 1;
    std::uint32_t least = 1;
    std::uint32_t most = 1;
    bool linear = true;
    bool maximum = false;
    double outside = 100;
};

/// An input with a single row, and one region over its full height.
Descriptor row_of_regions(std::uint32_t elements, const Region& region) {
    return describe("ROI_ALIGN", {{"InputTensor", real({1, 1, 1, elements})},
                                  {"ROITensor", real({1, 4})},
                                  {"BatchIndicesTensor", tensor(DataType::uint32, {1})},
                                  {"OutputTensor", real({1, 1, 1, region.outputs})},
                                  {"ReductionFunction", region.maximum ? 7 : 2},
                                  {"InterpolationMode", region.linear ? 1 : 0},
                                  {"SpatialScaleX", region.scale},
                                  {"SpatialScaleY", 1},
                                  {"OutOfBoundsInputValue", region.outside},
                                  {"MinimumSamplesPerOutput", region.least},
                                  {"MaximumSamplesPerOutput", region.most}});
}

cpu::Reference align(const std::vector<float>& elements, const Region& region) {
    const auto count = static_cast<std::uint32_t>(elements.size());
    const Descriptor descriptor = row_of_regions(count, region);
    const Tensor input = tensor_of<float>(real({1, 1, 1, count}), elements);
    const Tensor corners =
        tensor_of<float>(real({1, 4}), {static_cast<float>(region.x1), 0, static_cast<float>(region.x2), 1});
    const Tensor batch = tensor_of<std::uint32_t>(tensor(DataType::uint32, {1}), {0});
    return reference_of(descriptor, input, corners, batch);
}

/// 30 times the FP32 number 0.1 is a bit more than 3, and FP32 may round it to 3. So each of three outputs has one
/// sample or two.
TEST(Regions, NumbersOfSamplesAsFp32CountsThem) {
    const cpu::window::RegionRules rules(row_of_regions(8, {0, 30, 3, 0.1, 1, 9}));
    const cpu::window::RegionAxis uncertain(rules, rules.scale_x, 0, 30, 3, 8);
    EXPECT_EQ(uncertain.counts(), (std::vector<std::int64_t>{2, 1}));
    const cpu::window::RegionAxis certain(rules, 1, 0, 4, 4, 8);
    EXPECT_EQ(certain.counts(), (std::vector<std::int64_t>{1}));
    const cpu::window::RegionAxis thirds(rules, 1, 0, 3, 3, 8);
    EXPECT_EQ(thirds.counts(), (std::vector<std::int64_t>{1, 2})) << "3 / 3 may be off by 1 ULP";
    const cpu::window::RegionAxis mirrored(rules, 1, 7, 0, 2, 8);
    EXPECT_EQ(mirrored.counts(), (std::vector<std::int64_t>{4}));
    // With these values, the mean of two samples differs much from the single sample between them.
    const auto reference = align({0, 1, 0, 100, 0, 1, 0, 100}, {0, 30, 3, 0.1, 1, 9});
    EXPECT_FLOAT_EQ(values_of<float>(reference.outputs[0])[1], 0.75F);
    EXPECT_TRUE(accepted(reference, 1).contains(1));
    EXPECT_FALSE(accepted(reference, 1).contains(1.1));
}

TEST(Regions, MoreSamplesThanThereIsMemoryFor) {
    EXPECT_THROW(align({1, 2}, {0, 2, 1, 1, 4294967295U, 4294967295U}), std::length_error);
    EXPECT_THROW(align({1, 2}, {0, 1e9, 1, 1, 1, 4294967295U}), std::length_error);
    EXPECT_EQ(values_of<float>(align({1, 2}, {0, 1e9, 1, 1, 1, 4}).outputs[0])[0], 100);
}

/// Between two elements, both count as the nearest; FP32 rounding decides where a region ends.
TEST(Regions, WhatIsAccepted) {
    const auto half = align({10, 20, 40}, {0.5, 1.5, 1, 1, 1, 1, false});
    EXPECT_EQ(accepted(half, 0).low, 10) << "the position is 0.5";
    EXPECT_EQ(accepted(half, 0).high, 20);
    const auto clear = align({10, 20, 40}, {0.75, 1.75, 1, 1, 1, 1, false});
    EXPECT_EQ(accepted(clear, 0).low, 20);
    EXPECT_EQ(accepted(clear, 0).high, 20);
    // 5 * 0.7 is a bit less than 3.5, to which FP32 may round it. That is one element beyond the last one, hence
    // outside.
    const auto edge = align({10, 20, 40}, {5, 5, 1, 0.7});
    EXPECT_TRUE(accepted(edge, 0).contains(100));
    EXPECT_TRUE(accepted(edge, 0).contains(40));
    const auto outside = align({10, 20, 40}, {6, 6, 1, 0.7});
    EXPECT_EQ(accepted(outside, 0).low, 100);
    EXPECT_EQ(accepted(outside, 0).high, 100);
    const auto linear = align({10, 20, 40}, {0.75, 2.25, 1});
    EXPECT_TRUE(accepted(linear, 0).contains(20));
    EXPECT_LT(accepted(linear, 0).high - accepted(linear, 0).low, 2e-4);
    EXPECT_TRUE(accepted(align({1, std::numeric_limits<float>::infinity()}, {0.5, 0.5, 1}), 0).nan)
        << "an infinity with a weight of 0";
}

/// A corner of NaN is 0. It does not hide that the other one is beyond what implementations compute with.
TEST(Regions, CornersOfNanBesideFarOnes) {
    const core::TensorDesc image = real({1, 1, 2, 1});
    const auto accepted_values = [&](float y1, float y2) {
        const Descriptor pooling = describe("ROI_POOLING", {{"InputTensor", image},
                                                            {"ROITensor", real({1, 1, 1, 5})},
                                                            {"OutputTensor", real({1, 1, 1, 1})},
                                                            {"SpatialScale", 1},
                                                            {"PooledSize", operators::Size2D{1, 1}}});
        const auto reference = reference_of(pooling, tensor_of<float>(image, {3, 5}),
                                            tensor_of<float>(real({1, 1, 1, 5}), {0, 0, y1, 0, y2}));
        std::vector<float> values;
        for (const auto& [index, bits] : reference.slack[0].alternatives) {
            values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        }
        return values;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> any{0, 3, 5};
    EXPECT_EQ(accepted_values(nan, infinity), any);
    EXPECT_EQ(accepted_values(-infinity, nan), any);
    EXPECT_EQ(accepted_values(-infinity, infinity), any);
    EXPECT_TRUE(accepted_values(nan, nan).empty()) << "the first element";
    EXPECT_TRUE(accepted_values(nan, 1).empty());
}

// ---- gradients ---------------------------------------------------------------------------------------------------

double product(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += double{a[i]} * double{b[i]};
    }
    return sum;
}

/// The second sample lies at the start of the region, -0.09. If the output's offset is subtracted from the start, the
/// start is lost beside a step of 2^27, and the sample may be outside.
TEST(Regions, StartsThatAreLostBesideTheirSteps) {
    const core::TensorDesc image = real({1, 1, 1, 1});
    const core::TensorDesc batches = tensor(DataType::uint32, {1});
    const Descriptor align = describe("ROI_ALIGN1", {{"InputTensor", image},
                                                     {"ROITensor", real({1, 4})},
                                                     {"BatchIndicesTensor", batches},
                                                     {"OutputTensor", real({1, 1, 3, 1})},
                                                     {"ReductionFunction", 2},
                                                     {"InterpolationMode", 1},
                                                     {"SpatialScaleX", 1},
                                                     {"SpatialScaleY", 1},
                                                     {"InputPixelOffset", 0},
                                                     {"OutputPixelOffset", 1},
                                                     {"OutOfBoundsInputValue", 0},
                                                     {"MinimumSamplesPerOutput", 1},
                                                     {"MaximumSamplesPerOutput", 4},
                                                     {"AlignRegionsToCorners", 0}});
    const auto range = [&](float end) {
        return accepted(
            reference_of(align, tensor_of<float>(image, {5}), tensor_of<float>(real({1, 4}), {0, -0.09F, 0, end}),
                         tensor_of<std::uint32_t>(batches, {0})),
            0);
    };
    EXPECT_TRUE(range(-1.6e9F).contains(1.25)) << "one of four samples is 5";
    EXPECT_TRUE(range(-1.6e9F).contains(0));
    EXPECT_FALSE(range(-1.6e9F).contains(1.3));
    EXPECT_TRUE(range(-1600).contains(1.25));
    EXPECT_FALSE(range(-1600).contains(0)) << "no rounding is that large";
}

/// The second of two rows lies at 1 and is outside of a single element. Detectron2 and ONNX Runtime subtract the
/// input's offset from both corners first. The length of 1.3 - 0.7 is a bit less than 0.6 then, and the row may be
/// inside.
TEST(Regions, OffsetsThatAreSubtractedFromBothCorners) {
    const core::TensorDesc image = real({1, 1, 1, 1});
    const core::TensorDesc batches = tensor(DataType::uint32, {1});
    const auto range = [&](double offset, float end) {
        const Descriptor align = describe("ROI_ALIGN1", {{"InputTensor", image},
                                                         {"ROITensor", real({1, 4})},
                                                         {"BatchIndicesTensor", batches},
                                                         {"OutputTensor", real({1, 1, 2, 1})},
                                                         {"ReductionFunction", 7},
                                                         {"InterpolationMode", 0},
                                                         {"SpatialScaleX", 0.3},
                                                         {"SpatialScaleY", 0.3},
                                                         {"InputPixelOffset", offset},
                                                         {"OutputPixelOffset", 0},
                                                         {"OutOfBoundsInputValue", 7},
                                                         {"MinimumSamplesPerOutput", 1},
                                                         {"MaximumSamplesPerOutput", 1},
                                                         {"AlignRegionsToCorners", 0}});
        return accepted(
            reference_of(align, tensor_of<float>(image, {5}), tensor_of<float>(real({1, 4}), {-1, -1, -1, end}),
                         tensor_of<std::uint32_t>(batches, {0})),
            1);
    };
    EXPECT_EQ(range(-1, 1).low, 5);
    EXPECT_EQ(range(-1, 1).high, 7);
    EXPECT_EQ(range(-1, 1.01F).low, 7) << "no rounding is that large";
    EXPECT_EQ(range(-1, 0.99F).high, 5);
}

/// <forward(x), g> = <x, backward(g)> for any x and g.
TEST(Gradients, OfResampling) {
    Random random(7);
    for (int round = 0; round < 60; ++round) {
        const std::size_t rank = random.pick<std::size_t>(1, 4);
        const core::Dimensions in = random.sizes(rank, 6, 100);
        const core::Dimensions out = random.sizes(rank, 6, 100);
        std::vector<float> scales;
        std::vector<float> input_offsets;
        std::vector<float> output_offsets;
        for (std::size_t d = 0; d < rank; ++d) {
            scales.push_back(random.pick(1.0F, 24.0F) / 8);
            input_offsets.push_back(random.pick(-8.0F, 8.0F) / 8);
            output_offsets.push_back(random.pick(-8.0F, 8.0F) / 8);
        }
        const int mode = random.pick(0, 1);
        const int direction = random.pick(0, 1);
        const auto described = [&](std::string_view name, std::string_view first, std::string_view second) {
            return describe(name, {{first, name.ends_with("GRAD1") ? real(out) : real(in)},
                                   {second, name.ends_with("GRAD1") ? real(in) : real(out)},
                                   {"InterpolationMode", mode},
                                   {"RoundingDirection", direction},
                                   {"Scales", operators::FieldValue(scales)},
                                   {"InputPixelOffsets", operators::FieldValue(input_offsets)},
                                   {"OutputPixelOffsets", operators::FieldValue(output_offsets)}});
        };
        const Tensor x = random.filled<float>(real(in), [&] { return random.pick(-9.0F, 9.0F); });
        const Tensor g = random.filled<float>(real(out), [&] { return random.pick(-9.0F, 9.0F); });
        const auto forward = reference_of(described("RESAMPLE2", "InputTensor", "OutputTensor"), x);
        const auto backward =
            reference_of(described("RESAMPLE_GRAD1", "InputGradientTensor", "OutputGradientTensor"), g);
        const double wanted = product(values_of<float>(forward.outputs[0]), values_of<float>(g));
        EXPECT_NEAR(product(values_of<float>(x), values_of<float>(backward.outputs[0])), wanted, 0.02) << round;
    }
}

/// The same for averages in regions. Samples outside are 0.
TEST(Gradients, OfRegions) {
    Random random(8);
    for (int round = 0; round < 60; ++round) {
        const core::TensorDesc image = real({2, 2, random.pick(1u, 5u), random.pick(1u, 6u)});
        const core::TensorDesc outputs = real({3, 2, random.pick(1u, 3u), random.pick(1u, 4u)});
        const core::TensorDesc regions = real({3, 4});
        const core::TensorDesc batches = tensor(DataType::uint32, {3});
        const int least = random.pick(1, 2);
        const std::vector<Setting> settings{{"ROITensor", regions},
                                            {"BatchIndicesTensor", batches},
                                            {"ReductionFunction", 2},
                                            {"InterpolationMode", random.pick(0, 1)},
                                            {"SpatialScaleX", 0.5},
                                            {"SpatialScaleY", 1},
                                            {"InputPixelOffset", 0.5},
                                            {"OutputPixelOffset", -0.25},
                                            {"MinimumSamplesPerOutput", least},
                                            {"MaximumSamplesPerOutput", least + random.pick(0, 3)},
                                            {"AlignRegionsToCorners", random.pick(0, 1)}};
        const Tensor x = random.filled<float>(image, [&] { return random.pick(-9.0F, 9.0F); });
        const Tensor g = random.filled<float>(outputs, [&] { return random.pick(-9.0F, 9.0F); });
        const Tensor corners = random.filled<float>(regions, [&] { return random.pick(-16.0F, 64.0F) / 8; });
        const Tensor batch = tensor_of<std::uint32_t>(batches, {1, 0, 1});
        const Descriptor there =
            with(describe("ROI_ALIGN1", settings),
                 {{"InputTensor", image}, {"OutputTensor", outputs}, {"OutOfBoundsInputValue", 0}});
        const Descriptor back = with(describe("ROI_ALIGN_GRAD", settings),
                                     {{"InputGradientTensor", outputs}, {"OutputGradientTensor", image}});
        const auto forward = reference_of(there, x, corners, batch);
        const auto backward = reference_of(back, {nullptr, &g, &corners, &batch});
        const double wanted = product(values_of<float>(forward.outputs[0]), values_of<float>(g));
        EXPECT_NEAR(product(values_of<float>(x), values_of<float>(backward.outputs[0])), wanted, 0.02) << round;
    }
}

/// The gradient of a corner is gradient * slope * leverage. A gradient near the end of the range, multiplied by the
/// leverage of 8 first, is infinite, although the slope is 1/16.
TEST(Gradients, OfRegionsMayOverflowOnTheWay) {
    const core::TensorDesc image = real({1, 1, 1, 8});
    const core::TensorDesc outputs = real({1, 1, 1, 1});
    const core::TensorDesc batches = tensor(DataType::uint32, {1});
    const Descriptor descriptor = describe("ROI_ALIGN_GRAD", {{"InputTensor", image},
                                                              {"InputGradientTensor", outputs},
                                                              {"ROITensor", real({1, 4})},
                                                              {"BatchIndicesTensor", batches},
                                                              {"OutputROIGradientTensor", real({1, 4})},
                                                              {"ReductionFunction", 2},
                                                              {"InterpolationMode", 1},
                                                              {"SpatialScaleX", 1},
                                                              {"SpatialScaleY", 1},
                                                              {"InputPixelOffset", 0},
                                                              {"OutputPixelOffset", -0.03125},
                                                              {"MinimumSamplesPerOutput", 1},
                                                              {"MaximumSamplesPerOutput", 1},
                                                              {"AlignRegionsToCorners", 0}});
    const auto range = [&](float gradient) {
        return accepted(
            reference_of(descriptor,
                         tensor_of<float>(image, {0, 0.0625F, 0.125F, 0.1875F, 0.25F, 0.3125F, 0.375F, 0.4375F}),
                         tensor_of<float>(outputs, {gradient}), tensor_of<float>(real({1, 4}), {2.5F, 0, 4, 0}),
                         tensor_of<std::uint32_t>(batches, {0})),
            0, 1);
    };
    const double infinity = std::numeric_limits<double>::infinity();
    const Interval ordinary = range(16);
    EXPECT_TRUE(ordinary.contains(8));
    EXPECT_LT(ordinary.high - ordinary.low, 8 * 0x1p-16) << "the slope is a difference of 0.1875 and 0.125";
    EXPECT_TRUE(range(0x1p126F).contains(infinity));
    EXPECT_TRUE(range(0x1p126F).contains(0x1p125));
    EXPECT_FALSE(range(0x1p123F).contains(infinity));
}

// ---- antialiasing ------------------------------------------------------------------------------------------------

Descriptor resampled(const core::TensorDesc& in, const core::TensorDesc& out, float scale, bool antialiased,
                     float input_offset = 0.5F) {
    return describe("RESAMPLE3", {{"InputTensor", in},
                                  {"OutputTensor", out},
                                  {"InterpolationMode", 1},
                                  {"RoundingDirection", 0},
                                  {"Scales", operators::FieldValue(std::vector<float>{scale})},
                                  {"InputPixelOffsets", operators::FieldValue(std::vector<float>{input_offset})},
                                  {"OutputPixelOffsets", operators::FieldValue(std::vector<float>{-0.5F})},
                                  {"Antialiased", antialiased ? 1 : 0}});
}

cpu::Reference antialiased(const std::vector<float>& elements, std::uint32_t outputs, float scale) {
    const core::TensorDesc in = real({static_cast<std::uint32_t>(elements.size())});
    return reference_of(resampled(in, real({outputs}), scale, true), tensor_of<float>(in, elements));
}

TEST(Antialiasing, OfTheSameNumberIsThatNumber) {
    for (const float scale : {0.4F, 0.3F, 0.01F, 1e-6F, 1e-30F}) {
        const auto reference = antialiased(std::vector<float>(7, 12), 3, scale);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(double{values_of<float>(reference.outputs[0])[i]}, 12, 1e-4) << scale;
        }
    }
    EXPECT_LT(accepted(antialiased(std::vector<float>(7, 12), 3, 0.3F), 1).high, 12.001) << "no bounds at all";
}

/// Truncation would reveal an error in the last bit of a double.
TEST(Resampling, OfAConstantByteIsThatByte) {
    for (int step = 1; step < 200; ++step) {
        const float scale = static_cast<float>(step) / 40;
        for (const bool antialiased : {false, true}) {
            const core::TensorDesc in = bytes({13});
            const core::TensorDesc out = bytes({7});
            const auto reference =
                reference_of(resampled(in, out, scale, antialiased),
                             tensor_of<std::uint8_t>(in, std::vector<std::uint8_t>(13, std::uint8_t{255})));
            EXPECT_EQ(values_of<std::uint8_t>(reference.outputs[0]), std::vector<std::uint8_t>(7, std::uint8_t{255}))
                << scale;
        }
    }
}

// ---- positions that are not numbers ------------------------------------------------------------------------------

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

TEST(Interpolation, OfNaNAndInfinities) {
    const double real_nan = std::nan("");
    const double real_inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(listed(cpu::window::between(real_nan, real_nan, 4)).front(), (std::vector<double>{0, 1, 0, 1}));
    EXPECT_FALSE(cpu::window::steps_between(real_nan, 2, 4).empty());
    EXPECT_FALSE(cpu::window::steps_between(2, real_nan, 4).empty());
    EXPECT_EQ(listed(cpu::window::between(real_inf, real_inf, 4)), (std::vector<std::vector<double>>{{3, 3, 0, 0}}));
    for (const Reading reading : {Reading::linear, Reading::nearest, Reading::below, Reading::above}) {
        for (const double position : {real_nan, real_inf, -real_inf}) {
            Sample sample{.position = position, .range = Interval(position)};
            find_neighbours(sample, 5, reading, true);
            EXPECT_EQ(sample.anywhere, std::isnan(position));
            ASSERT_FALSE(sample.around.empty());
            for (const Between& part : sample.around) {
                EXPECT_TRUE(part.first >= 0 && part.second < 5);
            }
        }
    }
}

TEST(Resampling, AtNaNAcceptsAnything) {
    const core::TensorDesc in = real({4});
    const Tensor input = tensor_of<float>(in, {1, 2, 3, 4});
    for (const bool antialiased : {false, true}) {
        const auto reference = reference_of(resampled(in, real({2}), 0.4F, antialiased, nan), input);
        EXPECT_TRUE(accepted(reference, 0).nan);
        EXPECT_TRUE(accepted(reference, 0).contains(-1e30) && accepted(reference, 0).contains(1e30));
        // With an infinite coordinate, only the outermost element counts.
        const auto beyond = reference_of(resampled(in, real({2}), 0.4F, antialiased, inf), input);
        EXPECT_EQ(values_of<float>(beyond.outputs[0]), (std::vector<float>{1, 1}));
        EXPECT_NEAR(accepted(beyond, 0).high, 1, 1e-4);
    }
}

/// A region or rule with one unusual property.
struct Oddity {
    std::vector<float> corners{0, 0, 2, 2};
    float scale_x = 1;
    float scale_y = 1;
    float input_offset = 0.5F;
    float output_offset = -0.5F;
};

/// The region after the unusual one is judged as if it were alone.
TEST(Gradients, OfOddRegionsLeaveTheNextOneAlone) {
    std::vector<Oddity> oddities;
    for (const float odd : {nan, inf, -inf}) {
        for (std::size_t corner = 0; corner < 4; ++corner) {
            oddities.emplace_back().corners[corner] = odd;
        }
        oddities.push_back({.output_offset = odd});
    }
    oddities.push_back({.scale_x = nan});
    oddities.push_back({.scale_y = nan});
    oddities.push_back({.input_offset = nan});
    const core::TensorDesc image = real({1, 1, 4, 4});
    const core::TensorDesc outputs = real({2, 1, 2, 2});
    const core::TensorDesc regions = real({2, 4});
    const core::TensorDesc batches = tensor(DataType::uint32, {2});
    const Tensor x = tensor_of<float>(image, {1, 2, 4, 8, 3, 5, 7, 9, 2, 6, 1, 0, 4, 4, 8, 3});
    const Tensor g = tensor_of<float>(outputs, {1, 2, 3, 4, 5, 6, 7, 8});
    const Tensor batch = tensor_of<std::uint32_t>(batches, {0, 0});
    for (const Oddity& odd : oddities) {
        for (int kind = 0; kind < 8; ++kind) {
            const Descriptor descriptor = describe("ROI_ALIGN_GRAD", {{"InputTensor", image},
                                                                      {"InputGradientTensor", outputs},
                                                                      {"ROITensor", regions},
                                                                      {"BatchIndicesTensor", batches},
                                                                      {"OutputGradientTensor", image},
                                                                      {"OutputROIGradientTensor", regions},
                                                                      {"ReductionFunction", kind % 2 == 0 ? 2 : 7},
                                                                      {"InterpolationMode", kind / 2 % 2},
                                                                      {"SpatialScaleX", odd.scale_x},
                                                                      {"SpatialScaleY", odd.scale_y},
                                                                      {"InputPixelOffset", odd.input_offset},
                                                                      {"OutputPixelOffset", odd.output_offset},
                                                                      {"MinimumSamplesPerOutput", 1},
                                                                      {"MaximumSamplesPerOutput", 2},
                                                                      {"AlignRegionsToCorners", kind / 4}});
            std::vector<float> corners = odd.corners;
            corners.insert(corners.end(), {0, 0.25F, 3, 2.5F});
            const auto reference = reference_of(descriptor, x, g, tensor_of<float>(regions, corners), batch);
            const bool is_region = odd.corners != Oddity().corners;
            if (is_region) {
                EXPECT_TRUE(std::isfinite(values_of<float>(reference.outputs[1])[4])) << kind;
                EXPECT_LT(accepted(reference, 4, 1).high - accepted(reference, 4, 1).low, 1e3) << kind;
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::regions_test
