// Resampling and regions of interest on the reference: what lies around a place, what FP32 may make of it, and
// gradients as the transpose of what they belong to.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/cpu/window/regions.h"
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

// ---- around a place ----------------------------------------------------------------------------------------------

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

Sample sample_at(double low, double place, double high, Reading reading) {
    Sample sample{.place = place, .range = Interval(low, high, false)};
    find_neighbours(sample, 5, reading, true);
    return sample;
}

TEST(Interpolation, NearestElements) {
    struct Row {
        Reading reading;
        double place;
        std::int64_t element;
        std::int64_t first;
        std::int64_t last;
    };
    // Half an element is added in FP32, so that what is close to a half may count as one.
    for (const Row& row :
         {Row{Reading::nearest, 1.25, 1, 1, 1}, Row{Reading::nearest, 1.5, 2, 1, 2},
          Row{Reading::nearest, 2.5, 3, 2, 3}, Row{Reading::nearest, -7, 0, 0, 0},
          Row{Reading::nearest, 1.5 - 0x1p-30, 1, 1, 2}, Row{Reading::below, 1.75, 1, 1, 1},
          Row{Reading::below, 3, 3, 3, 3}, Row{Reading::above, 1.25, 2, 2, 2}, Row{Reading::above, 9, 4, 4, 4}}) {
        SCOPED_TRACE(row.place);
        const Sample sample = sample_at(row.place, row.place, row.place, row.reading);
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

/// A row of elements, and one region over all of its height.
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

/// 30 times the FP32 number 0.1 is a bit more than 3, which FP32 may round to 3: one sample or two for each of three
/// outputs.
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
    // The mean of two samples and the one between them are far apart here.
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

/// Halfway between two elements both count as the nearest; FP32 decides where a region ends.
TEST(Regions, WhatIsAccepted) {
    const auto half = align({10, 20, 40}, {0.5, 1.5, 1, 1, 1, 1, false});
    EXPECT_EQ(accepted(half, 0).low, 10) << "the place is 0.5";
    EXPECT_EQ(accepted(half, 0).high, 20);
    const auto clear = align({10, 20, 40}, {0.75, 1.75, 1, 1, 1, 1, false});
    EXPECT_EQ(accepted(clear, 0).low, 20);
    EXPECT_EQ(accepted(clear, 0).high, 20);
    // 5 * 0.7 is a bit less than 3.5, to which FP32 may round it: a whole element behind the last one, which is
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

// ---- gradients ---------------------------------------------------------------------------------------------------

double product(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += double{a[i]} * double{b[i]};
    }
    return sum;
}

/// <forward(x), g> = <x, backward(g)>, whatever x and g are.
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

/// The same for means in regions; what lies outside is 0.
TEST(Gradients, OfRegions) {
    Random random(8);
    for (int round = 0; round < 60; ++round) {
        const core::TensorDesc picture = real({2, 2, random.pick(1u, 5u), random.pick(1u, 6u)});
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
        const Tensor x = random.filled<float>(picture, [&] { return random.pick(-9.0F, 9.0F); });
        const Tensor g = random.filled<float>(outputs, [&] { return random.pick(-9.0F, 9.0F); });
        const Tensor corners = random.filled<float>(regions, [&] { return random.pick(-16.0F, 64.0F) / 8; });
        const Tensor batch = tensor_of<std::uint32_t>(batches, {1, 0, 1});
        const Descriptor there =
            with(describe("ROI_ALIGN1", settings),
                 {{"InputTensor", picture}, {"OutputTensor", outputs}, {"OutOfBoundsInputValue", 0}});
        const Descriptor back = with(describe("ROI_ALIGN_GRAD", settings),
                                     {{"InputGradientTensor", outputs}, {"OutputGradientTensor", picture}});
        const auto forward = reference_of(there, x, corners, batch);
        const auto backward = reference_of(back, {nullptr, &g, &corners, &batch});
        const double wanted = product(values_of<float>(forward.outputs[0]), values_of<float>(g));
        EXPECT_NEAR(product(values_of<float>(x), values_of<float>(backward.outputs[0])), wanted, 0.02) << round;
    }
}

// ---- antialiasing ------------------------------------------------------------------------------------------------

cpu::Reference antialiased(const std::vector<float>& elements, std::uint32_t outputs, float scale) {
    const core::TensorDesc in = real({static_cast<std::uint32_t>(elements.size())});
    const Tensor input = tensor_of<float>(in, elements);
    return reference_of(describe("RESAMPLE3", {{"InputTensor", in},
                                               {"OutputTensor", real({outputs})},
                                               {"InterpolationMode", 1},
                                               {"RoundingDirection", 0},
                                               {"Scales", operators::FieldValue(std::vector<float>{scale})},
                                               {"InputPixelOffsets", operators::FieldValue(std::vector<float>{0.5F})},
                                               {"OutputPixelOffsets", operators::FieldValue(std::vector<float>{-0.5F})},
                                               {"Antialiased", 1}}),
                        input);
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

}  // namespace
}  // namespace dmlconform::tests::regions_test
