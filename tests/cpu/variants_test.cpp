// Tests of engine/cpu/variants: they compute what was measured on DirectML 1.15.4, what the reference computes where
// there is no difference, and accept nothing else.
#include "engine/cpu/variants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::variants_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;
using Floats = std::vector<float>;

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

cpu::Reference computed(const Descriptor& descriptor, const std::vector<const Tensor*>& inputs, std::string_view name) {
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    EXPECT_FALSE(verdict) << verdict->message;
    EXPECT_NE(cpu::find_variant(*descriptor.schema, name), nullptr) << name;
    return cpu::compute_variant(descriptor, inputs, cpu::Accumulation::fp32, name);
}

/// The accepted numbers are those of the list, but for `room`, relative to each. NaN and infinities are exactly those.
void expect(const cpu::Reference& reference, const Floats& right, double room = 0x1p-20) {
    const auto values = values_of<float>(reference.outputs[0]);
    ASSERT_EQ(values.size(), right.size());
    for (std::size_t i = 0; i < right.size(); ++i) {
        const cpu::Interval range = accepted(reference, i);
        if (std::isfinite(right[i])) {
            const double most = room * std::max(1.0, double{std::fabs(right[i])});
            EXPECT_LE(range.low, right[i]) << i;
            EXPECT_GE(range.high, right[i]) << i;
            EXPECT_GE(range.low, right[i] - most) << i;
            EXPECT_LE(range.high, right[i] + most) << i;
            EXPECT_FALSE(range.nan) << i;
        } else {
            EXPECT_EQ(std::isnan(values[i]), std::isnan(right[i])) << i;
            EXPECT_TRUE(std::isnan(right[i]) || values[i] == right[i]) << i << ": " << values[i];
        }
    }
}

TEST(Variants, AreOfOperatorsWithAReference) {
    std::set<std::pair<std::string_view, std::string_view>> known;
    for (const cpu::Variant& variant : cpu::variants()) {
        for (const std::string_view name : variant.operators) {
            const auto* const schema = operators::find_operator(name);
            ASSERT_NE(schema, nullptr) << name;
            EXPECT_TRUE(cpu::has_reference(*schema)) << name;
            EXPECT_TRUE(known.emplace(name, variant.name).second) << name << " has it twice: " << variant.name;
            EXPECT_EQ(cpu::find_variant(*schema, variant.name), &variant);
        }
    }
    EXPECT_EQ(cpu::find_variant(*operators::find_operator("SLICE1"), "clampedOffsets"), nullptr);
    EXPECT_EQ(cpu::find_variant(*operators::find_operator("RESAMPLE1"), "absentStates"), nullptr);
}

// ---- RESAMPLE1: the elements are chosen by clamped offsets -------------------------------------------------------

Descriptor resampling(std::uint32_t size, std::uint32_t outputs, float scale, float input, float output) {
    return describe("RESAMPLE1", {{"InputTensor", tensor(DataType::float32, {1, size})},
                                  {"OutputTensor", tensor(DataType::float32, {1, outputs})},
                                  {"InterpolationMode", 1},
                                  {"Scales", std::vector<float>{1, scale}},
                                  {"InputPixelOffsets", std::vector<float>{0, input}},
                                  {"OutputPixelOffsets", std::vector<float>{0, output}}});
}

cpu::Reference resampled(const Floats& elements, const Descriptor& descriptor) {
    const Tensor input = tensor_of<float>(*descriptor.tensor("InputTensor"), elements);
    return computed(descriptor, {&input}, "clampedOffsets");
}

/// At the position 1.5, elements 0 and 1 are 7 and 1: what is measured is 7 + (1 - 7) * 1.5, and 50.5 is right.
TEST(Variants, ResamplingChoosesElementsByClampedOffsets) {
    const cpu::Reference reference = resampled({7, 1, 100}, resampling(3, 1, 1, -1, -0.5F));
    EXPECT_EQ(values_of<float>(reference.outputs[0]).at(0), -2);
    const cpu::Interval range = accepted(reference, 0);
    EXPECT_TRUE(range.contains(50.5)) << "for some outputs DirectML chooses as it should";
    EXPECT_FALSE(range.contains(-2.01));
    EXPECT_FALSE(range.contains(50.51));
}

TEST(Variants, ResamplingWithOffsetsUpToOneIsRight) {
    const Floats elements{7, 1, 100, -3, 5};
    for (const float offset : {0.0F, 0.25F, 0.5F, 1.0F}) {
        const Descriptor descriptor = resampling(5, 10, 2, offset, 0.375F);
        const Tensor input = tensor_of<float>(*descriptor.tensor("InputTensor"), elements);
        const cpu::Reference right = reference_of(descriptor, input);
        const cpu::Reference variant = resampled(elements, descriptor);
        const auto expected = values_of<float>(right.outputs[0]);
        expect(variant, Floats(expected.begin(), expected.end()), 0x1p-13);
    }
}

/// Each position is an element, and the one in front of it is taken.
TEST(Variants, ResamplingThatMovesNothingTakesTheElementBefore) {
    const cpu::Reference reference = resampled({1, 10, 100}, resampling(3, 3, 1, -0.375F, 0.375F));
    for (const auto& [element, low, high] : {std::tuple(0, 1, 1), std::tuple(1, 1, 10), std::tuple(2, 10, 100)}) {
        const cpu::Interval range = accepted(reference, static_cast<std::size_t>(element));
        EXPECT_NEAR(range.low, low, 1e-3);
        EXPECT_NEAR(range.high, high, 1e-3);
    }
}

/// The last element is followed by the first one where its number is beyond INT32. Weights as large leave little to
/// compare.
TEST(Variants, ResamplingBeyondInt32GoesOnWithTheFirstElement) {
    const Floats elements{1, 10, 100};
    EXPECT_TRUE(accepted(resampled(elements, resampling(3, 1, 1, -0.25F, -6e9F)), 0).contains(75.25));
    EXPECT_TRUE(accepted(resampled(elements, resampling(3, 1, 1, -0.25F, 6e9F)), 0).contains(75.25));
    const cpu::Interval last = accepted(resampled(elements, resampling(3, 1, 1, -0.25F, -1e9F)), 0);
    EXPECT_NEAR(last.low, 100, 0.1);
    EXPECT_NEAR(last.high, 100, 0.1);
}

/// Between -100 and 100, an offset of 1.25 weighs up to 1.5 in all, and that twice.
TEST(Variants, AntialiasedResamplingIsBoundedByItsOffsets) {
    const Descriptor descriptor = describe("RESAMPLE3", {{"InputTensor", real({8})},
                                                         {"OutputTensor", real({1})},
                                                         {"InterpolationMode", 1},
                                                         {"Scales", std::vector<float>{0.125F}},
                                                         {"InputPixelOffsets", std::vector<float>{1.25F}},
                                                         {"OutputPixelOffsets", std::vector<float>{-1.5F}},
                                                         {"Antialiased", 1}});
    const Tensor input = tensor_of<float>(real({8}), {-100, 100, 0, 1, 2, 3, 4, 5});
    const cpu::Interval range = accepted(computed(descriptor, {&input}, "clampedOffsets"), 0);
    EXPECT_NEAR(range.low, -225, 1);
    EXPECT_NEAR(range.high, 225, 1);
}

// ---- RESAMPLE1: the element below -------------------------------------------------------------------------------

/// At a scale of 3, outputs lie at -1/3, 0, 1/3, 2/3, 1 and 4/3. The nearest element is another one at 2/3.
TEST(Variants, ResamplingOfBytesTakesTheElementBelow) {
    const Descriptor descriptor = describe("RESAMPLE1", {{"InputTensor", tensor(DataType::uint8, {1, 2})},
                                                         {"OutputTensor", tensor(DataType::uint8, {1, 6})},
                                                         {"InterpolationMode", 0},
                                                         {"Scales", std::vector<float>{1, 3}},
                                                         {"InputPixelOffsets", std::vector<float>{0.5F, 0.5F}},
                                                         {"OutputPixelOffsets", std::vector<float>{-0.5F, -0.5F}}});
    const Tensor input = tensor_of<std::uint8_t>(*descriptor.tensor("InputTensor"), {10, 20});
    const cpu::Reference reference = computed(descriptor, {&input}, "elementsBelow");
    EXPECT_EQ(values_of<std::uint8_t>(reference.outputs[0]), (std::vector<std::uint8_t>{10, 10, 10, 10, 20, 20}));
    std::set<std::uint64_t> ambiguous;
    for (const auto& [element, bits] : reference.slack[0].alternatives) {
        ambiguous.insert(element);
    }
    EXPECT_EQ(ambiguous, std::set<std::uint64_t>{4}) << "only the position 1 may be rounded to what is below 1";
}

// ---- AVERAGE_POOLING_GRAD: in 32 bits ----------------------------------------------------------------------------

struct Pooling {
    std::uint32_t stride = 1;
    std::uint32_t window = 1;
    std::uint32_t padding = 0;
    std::uint32_t end_padding = 0;
    bool includes_padding = false;
};

/// The gradient of `elements` elements in a row.
cpu::Reference gradient_of(const Pooling& pooling, std::uint32_t elements, const Floats& gradients) {
    const Descriptor descriptor = describe(
        "AVERAGE_POOLING_GRAD",
        {{"InputGradientTensor", tensor(DataType::float32, {1, 1, 1, static_cast<std::uint32_t>(gradients.size())})},
         {"OutputGradientTensor", tensor(DataType::float32, {1, 1, 1, elements})},
         {"Strides", {1, pooling.stride}},
         {"WindowSize", {1, pooling.window}},
         {"StartPadding", {0, pooling.padding}},
         {"EndPadding", {0, pooling.end_padding}},
         {"IncludePadding", pooling.includes_padding ? 1 : 0}});
    const Tensor input = tensor_of<float>(*descriptor.tensor("InputGradientTensor"), gradients);
    return computed(descriptor, {&input}, "narrowPositions");
}

constexpr std::uint32_t minus_one = 4294967295;

TEST(Variants, PoolingGradientsInTheirRangeAreRight) {
    expect(gradient_of({2, 3, 1, 1}, 4, {6, 12}), {3, 3 + 4, 4, 4});
    expect(gradient_of({2, 3, 1, 1, true}, 4, {6, 12}), {2, 2 + 4, 4, 4});
}

TEST(Variants, PoolingGradientsWithAPaddingOfMinusOne) {
    expect(gradient_of({1, 2, minus_one, 0}, 5, {1, 10, 100, 1000}), {0, 0.5F, 5.5F, 55, 50 + 1000});
    expect(gradient_of({2, 3, minus_one, 0}, 5, {1, 10, 100, 1000}), {1 / 3.F, 1 / 3.F, 1 / 3.F, 1 / 3.F + 5, 5});
}

TEST(Variants, PoolingGradientsWithAStrideOfMinusOne) {
    expect(gradient_of({minus_one, 1, 0, 0, true}, 5, {1}), {1, 0, 1, 1, 1});
    expect(gradient_of({minus_one, 2, 1, 0, true}, 5, {1}), {0, 0, 0.5F, 0.5F, 0.5F});
    expect(gradient_of({minus_one, 1, 3}, 5, {1}), {0.2F, nan, nan, nan, nan});
}

TEST(Variants, PoolingGradientsWithAWindowOfMinusOne) {
    expect(gradient_of({1, minus_one, 2, 0}, 5, {1, 1}), {0, 0, 0, 0, 0});
}

TEST(Variants, PoolingGradientsWhosePaddingEndsAtTwoOfThreeElements) {
    expect(gradient_of({1, 1, 0, minus_one, true}, 3, {1, 2, 3}), {1, 2, infinity});
    expect(gradient_of({1, 2, 0, minus_one, true}, 5, {1, 1, 1, 1}), {0.5F, 1, 1, 0.5F + 1, 1});
    expect(gradient_of({1, 2, 0, minus_one}, 5, {1, 1, 1, 1}), {0.5F, 1, 1, 1, 0.5F});
}

TEST(Variants, PoolingGradientsOfPaddingNearInt32) {
    expect(gradient_of({1, 1, 2147483647, 0}, 5, {1}), {0, 0.2F, 0.2F, 0.2F, 0.2F});
    expect(gradient_of({1, 1, 2147483647, 0, true}, 2, {1}), {0, -0x1p-31F}, 0x1p-30);
}

/// Each element seems to be in 2^31 windows along each of two dimensions.
TEST(Variants, PoolingGradientsOfEndlessWindowsComeToAnEnd) {
    const auto one = tensor(DataType::float32, {1, 1, 1, 1});
    const Descriptor descriptor = describe("AVERAGE_POOLING_GRAD", {{"InputGradientTensor", one},
                                                                    {"OutputGradientTensor", one},
                                                                    {"Strides", {minus_one, minus_one}},
                                                                    {"WindowSize", {1, 1}},
                                                                    {"StartPadding", {2147483647, 2147483647}},
                                                                    {"EndPadding", {0, 0}},
                                                                    {"IncludePadding", 1}});
    const Tensor input = tensor_of<float>(one, {1});
    EXPECT_EQ(computed(descriptor, {&input}, "narrowPositions").outputs.size(), 1U);
}

// ---- poolings: in 32 bits ----------------------------------------------------------------------------------------

/// A pooling of a row by windows of one element, with a dilation of 2^31 - 1. `more` are fields of the operator alone.
cpu::Reference pooled(std::string_view name, const Floats& row, std::vector<Setting> more) {
    const core::TensorDesc desc = tensor(DataType::float32, {1, 1, 1, static_cast<std::uint32_t>(row.size())});
    more.insert(more.end(), {{"InputTensor", desc},
                             {"OutputTensor", desc},
                             {"Strides", {1, 1}},
                             {"WindowSize", {1, 1}},
                             {"StartPadding", {0, 0}},
                             {"EndPadding", {0, 0}},
                             {"Dilations", {1, 2147483647}}});
    const Descriptor descriptor = describe(name, more);
    const Tensor input = tensor_of<float>(desc, row);
    return computed(descriptor, {&input}, "narrowPositions");
}

/// Every second step is 2^32 - 2, so that a window has each second element in front of it as well.
TEST(Variants, AveragesGoOnBehindTheLargestPosition) {
    expect(pooled("AVERAGE_POOLING1", {10, 20, 40, 80, 160, 240}, {{"IncludePadding", 0}}),
           {10, 20, 25, 50, 70, 340.0F / 3});
    // The positions in between are outside of the input, and count as padding: those of window 3 are 3, -2^31 + 2, 1,
    // -2^31 and -1.
    expect(pooled("AVERAGE_POOLING1", {10, 20, 40, 80, 160, 240}, {{"IncludePadding", 1}}),
           {10, 20.0F / 3, 50.0F / 3, 20, 42, 340.0F / 7});
}

TEST(Variants, NormsGoOnBehindTheLargestPosition) {
    expect(pooled("LP_POOLING1", {60, -50, 40, -30, 20, -10}, {{"P", 1}}), {60, 50, 100, 80, 120, 90});
    expect(pooled("LP_POOLING1", {3, 0, 4, 0}, {{"P", 2}}), {3, 0, 5, 0});
}

TEST(Variants, MaximaGoOnBehindTheLargestPosition) {
    const cpu::Reference reference = pooled("MAX_POOLING2", {60, 50, 40, 30, 20, 90},
                                            {{"OutputIndicesTensor", tensor(DataType::uint32, {1, 1, 1, 6})}});
    EXPECT_EQ(values_of<float>(reference.outputs[0]), (std::vector<float>{60, 50, 60, 50, 60, 90}));
    EXPECT_EQ(values_of<std::uint32_t>(reference.outputs[1]), (std::vector<std::uint32_t>{0, 1, 0, 1, 0, 5}));
}

// ---- SLICE1 and SLICE_GRAD: dimensions are merged ----------------------------------------------------------------

/// A window of a tensor, and how many of its elements are taken. Strides may be empty.
struct Taken {
    std::vector<std::uint32_t> whole;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> window;
    std::vector<std::int32_t> steps;
    std::vector<std::uint32_t> part;
    std::vector<std::uint32_t> part_strides = {};
};

/// The addresses from which SLICE1 takes the elements, in a tensor without gaps.
std::vector<std::uint32_t> addresses_of(const Taken& taken) {
    const core::TensorDesc whole = tensor(DataType::uint32, taken.whole);
    core::TensorDesc part = tensor(DataType::uint32, taken.part);
    if (!taken.part_strides.empty()) {
        part = tensor(DataType::uint32, taken.part, taken.part_strides);
    }
    const Descriptor descriptor = describe("SLICE1", {{"InputTensor", whole},
                                                      {"OutputTensor", part},
                                                      {"InputWindowOffsets", taken.offsets},
                                                      {"InputWindowSizes", taken.window},
                                                      {"InputWindowStrides", taken.steps}});
    std::vector<std::uint32_t> addresses(*core::element_count(whole.sizes));
    std::iota(addresses.begin(), addresses.end(), 0U);
    const Tensor input = tensor_of<std::uint32_t>(whole, addresses);
    return values_of<std::uint32_t>(computed(descriptor, {&input}, "mergedDimensions").outputs[0]);
}

/// What DirectML 1.15.4 computed. Where nothing is merged, it is what should be.
TEST(Variants, SlicesMergeDimensionsOfWholeWindows) {
    using Addresses = std::vector<std::uint32_t>;
    // Rows of the input are taken to be as short as those of the output.
    EXPECT_EQ(addresses_of({{3, 4}, {0, 0}, {3, 4}, {1, 1}, {2, 2}}), (Addresses{0, 1, 2, 3}));
    // The window has not all of the inner dimension, or steps.
    EXPECT_EQ(addresses_of({{3, 4}, {0, 0}, {3, 3}, {1, 1}, {2, 2}}), (Addresses{0, 1, 4, 5}));
    EXPECT_EQ(addresses_of({{3, 4}, {0, 0}, {3, 4}, {2, 1}, {2, 2}}), (Addresses{0, 1, 8, 9}));
    EXPECT_EQ(addresses_of({{3, 4}, {0, 0}, {3, 4}, {1, -1}, {2, 2}}), (Addresses{3, 2, 7, 6}));
    // Offsets of the outer dimension stay, and others stay as they are.
    EXPECT_EQ(addresses_of({{5, 3, 4}, {2, 0, 0}, {3, 3, 2}, {1, 1, -1}, {2, 2, 2}}),
              (Addresses{25, 24, 29, 28, 33, 32, 37, 36}));
    // Three are merged, one after the other.
    EXPECT_EQ(addresses_of({{4, 2, 4}, {0, 0, 0}, {4, 2, 4}, {1, 1, 1}, {2, 2, 1}}), (Addresses{0, 1, 2, 3}));
    // A dimension of one element is in between if it steps.
    EXPECT_EQ(addresses_of({{3, 1, 2}, {0, 0, 0}, {3, 1, 2}, {1, 1, 1}, {3, 1, 1}}), (Addresses{0, 1, 2}));
    EXPECT_EQ(addresses_of({{3, 1, 2}, {0, 0, 0}, {3, 1, 2}, {1, 2, 1}, {3, 1, 1}}), (Addresses{0, 2, 4}));
    // The output has gaps between its rows, or only one element in each.
    EXPECT_EQ(addresses_of({{3, 4}, {0, 0}, {3, 4}, {1, 1}, {2, 2}, {3, 1}}), (Addresses{0, 1, 4, 5}));
    EXPECT_EQ(addresses_of({{3, 2}, {0, 0}, {3, 2}, {1, 1}, {3, 1}, {2, 1}}), (Addresses{0, 1, 2}));
}

TEST(Variants, GradientsOfSlicesGoWhereMergedDimensionsAre) {
    const core::TensorDesc whole = tensor(DataType::float32, {3, 4});
    const core::TensorDesc part = tensor(DataType::float32, {2, 2});
    const Descriptor descriptor = describe("SLICE_GRAD", {{"InputGradientTensor", part},
                                                          {"OutputGradientTensor", whole},
                                                          {"InputWindowOffsets", {0, 0}},
                                                          {"InputWindowSizes", {3, 4}},
                                                          {"InputWindowStrides", std::vector<std::int32_t>{1, 1}}});
    const Tensor gradient = tensor_of<float>(part, {1, 2, 3, 4});
    EXPECT_EQ(values_of<float>(computed(descriptor, {&gradient}, "mergedDimensions").outputs[0]),
              (std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}));
}

// ---- CLIP: low halves have signs ---------------------------------------------------------------------------------

TEST(Variants, LowHalvesOfClippedIntegersHaveSigns) {
    using Longs = std::vector<std::int64_t>;
    const core::TensorDesc desc = tensor(DataType::int64, {4});
    const Tensor input = tensor_of<std::int64_t>(desc, {1, 3000000000, -5, 5000000000});
    const auto clipped = [&](std::string_view name, float least, float greatest) {
        return values_of<std::int64_t>(
            computed(describe(name, {{"InputTensor", desc}, {"OutputTensor", desc}, {"Min", least}, {"Max", greatest}}),
                     {&input}, "signedHalves")
                .outputs[0]);
    };
    EXPECT_EQ(clipped("ELEMENT_WISE_CLIP", -10, 3e9F), (Longs{3000000000, 3000000000, -5, 3000000000}));
    EXPECT_EQ(clipped("ELEMENT_WISE_CLIP", -10, 7), (Longs{1, 3000000000, -5, 7}));
    EXPECT_EQ(clipped("ELEMENT_WISE_CLIP", 0, 1e10F), (Longs{1, 0, 0, 5000000000}));
    const Tensor gradients = tensor_of<std::int64_t>(desc, {10, 20, 30, 40});
    const Descriptor gradient = describe("ELEMENT_WISE_CLIP_GRAD", {{"InputTensor", desc},
                                                                    {"InputGradientTensor", desc},
                                                                    {"OutputGradientTensor", desc},
                                                                    {"Min", -10},
                                                                    {"Max", 3e9F}});
    EXPECT_EQ(values_of<std::int64_t>(computed(gradient, {&input, &gradients}, "signedHalves").outputs[0]),
              (Longs{0, 0, 30, 0}));
}

// ---- QUANTIZED_LINEAR_AVERAGE_POOLING: in 32 bits ----------------------------------------------------------------

/// The averages of windows of one element, with a dilation.
std::vector<std::uint8_t> averages_of(const Pooling& pooling, std::uint32_t dilation, std::uint32_t windows,
                                      const std::vector<std::uint8_t>& elements) {
    const auto bytes = [](std::size_t count) {
        return tensor(DataType::uint8, {1, 1, 1, static_cast<std::uint32_t>(count)});
    };
    const Descriptor descriptor =
        describe("QUANTIZED_LINEAR_AVERAGE_POOLING", {{"InputTensor", bytes(elements.size())},
                                                      {"InputScaleTensor", tensor(DataType::float32, {1, 1, 1, 1})},
                                                      {"OutputScaleTensor", tensor(DataType::float32, {1, 1, 1, 1})},
                                                      {"OutputTensor", bytes(windows)},
                                                      {"Strides", {1, pooling.stride}},
                                                      {"WindowSize", {1, pooling.window}},
                                                      {"StartPadding", {0, pooling.padding}},
                                                      {"EndPadding", {0, pooling.end_padding}},
                                                      {"Dilations", {1, dilation}},
                                                      {"IncludePadding", pooling.includes_padding ? 1 : 0}});
    const Tensor input = tensor_of<std::uint8_t>(*descriptor.tensor("InputTensor"), elements);
    const Tensor one = tensor_of<float>(*descriptor.tensor("InputScaleTensor"), {1});
    return values_of<std::uint8_t>(
        computed(descriptor, {&input, &one, nullptr, &one, nullptr}, "narrowPositions").outputs[0]);
}

/// What DirectML 1.15.4 computed, but for windows without elements: there it gave 255.
TEST(Variants, QuantisedAveragesGoOnBehindTheLargestPosition) {
    using Bytes = std::vector<std::uint8_t>;
    constexpr std::uint32_t largest = 2147483647;
    const Bytes six{10, 20, 40, 80, 160, 240};
    EXPECT_EQ(averages_of({}, largest, 6, six), (Bytes{10, 20, 25, 50, 70, 113}));
    EXPECT_EQ(averages_of({}, largest - 1, 6, six), (Bytes{10, 20, 40, 80, 85, 130}));
    EXPECT_EQ(averages_of({}, largest - 2, 6, six), six);
    EXPECT_EQ(averages_of({1, 1, 0, 6}, largest - 2, 12, six),
              (Bytes{10, 20, 40, 80, 160, 240, 10, 20, 40, 80, 160, 240}));
    EXPECT_EQ(averages_of({1, 1, 0, 6, true}, largest, 8, {200, 40}), (Bytes{200, 13, 67, 8, 40, 6, 29, 4}));
    EXPECT_EQ(averages_of({1, 1, 3, 0, true}, largest, 7, {200, 40, 20, 100}), (Bytes{0, 0, 0, 200, 13, 73, 28}));
    EXPECT_EQ(averages_of({1, 1, 0, 6}, largest, 7, {200}), (Bytes{200, 0, 200, 0, 200, 0, 200}));
}

TEST(Variants, QuantisedAveragesOfSmallDilationsAreRight) {
    EXPECT_EQ(averages_of({1, 2, 1, 1}, 2, 4, {10, 20, 40, 80}), (std::vector<std::uint8_t>{20, 25, 50, 40}));
    EXPECT_EQ(averages_of({1, 2, 1, 1, true}, 2, 4, {10, 20, 40, 80}), (std::vector<std::uint8_t>{10, 25, 50, 20}));
}

// ---- recurrent networks: absent states are not multiplied --------------------------------------------------------

/// A network of one unit, one step and weights of 0 but for a bias of 0.5.
struct Cell {
    std::string_view name;
    std::int64_t gates;
    std::vector<std::string_view> activations;
    float recurrence;
    bool has_state = false;
    float peephole = 0;
};

cpu::Reference state_of(const Cell& cell) {
    const auto gates = static_cast<std::uint32_t>(cell.gates);
    operators::OperatorDescArray activations;
    for (const std::string_view name : cell.activations) {
        activations.items.push_back(activation(name));
    }
    const auto weights = real({1, 1, gates, 1});
    const auto one = real({1, 1, 1, 1});
    const auto biases = real({1, 1, 1, 2 * gates});
    Descriptor descriptor = describe(cell.name, {{"InputTensor", one},
                                                 {"WeightTensor", weights},
                                                 {"RecurrenceTensor", weights},
                                                 {"BiasTensor", biases},
                                                 {"OutputSequenceTensor", one},
                                                 {"ActivationDescs", activations}});
    Floats bias(2 * gates);
    std::fill_n(bias.begin(), gates, 0.5F);
    const Tensor input = tensor_of<float>(one, {1});
    const Tensor weight = tensor_of<float>(weights, Floats(gates));
    const Tensor recurrence = tensor_of<float>(weights, Floats(gates, cell.recurrence));
    const Tensor of_biases = tensor_of<float>(biases, bias);
    const Tensor state = tensor_of<float>(one, {0});
    const auto three = real({1, 1, 1, 3});
    const Tensor peepholes = tensor_of<float>(three, Floats(3, cell.peephole));
    std::vector<const Tensor*> inputs(descriptor.inputs().size(), nullptr);
    inputs[0] = &input;
    inputs[1] = &weight;
    inputs[2] = &recurrence;
    inputs[3] = &of_biases;
    if (cell.has_state) {
        descriptor = with(descriptor, {{"HiddenInitTensor", one}});
        inputs[4] = &state;
    }
    if (cell.name == "LSTM") {
        descriptor = with(descriptor, {{"PeepholeTensor", three}, {"UseClipThreshold", 0}, {"ClipThreshold", 0}});
        inputs[7] = &peepholes;
    }
    return computed(descriptor, inputs, "absentStates");
}

TEST(Variants, AbsentStatesAreNotMultiplied) {
    expect(state_of({"RNN", 1, {"ACTIVATION_TANH"}, nan}), {std::tanh(0.5F)}, 0x1p-9);
    expect(state_of({"RNN", 1, {"ACTIVATION_TANH"}, nan, true}), {nan});
    expect(state_of({"RNN", 1, {"ACTIVATION_TANH"}, 7}), {std::tanh(0.5F)}, 0x1p-9);
    const float gate = 1 / (1 + std::exp(-0.5F));
    expect(state_of({"GRU", 3, {"ACTIVATION_SIGMOID", "ACTIVATION_TANH"}, infinity}), {(1 - gate) * std::tanh(0.5F)},
           0x1p-8);
}

TEST(Variants, PeepholesOfAnAbsentCellAreNotMultiplied) {
    const std::vector<std::string_view> activations{"ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"};
    const float gate = 1 / (1 + std::exp(-0.5F));
    const float cell = gate * std::tanh(0.5F);
    const float out = 1 / (1 + std::exp(-0.5F - 2 * cell));
    expect(state_of({"LSTM", 4, activations, nan, false, 2}), {out * std::tanh(cell)}, 0x1p-8);
    // The output gate sees the cell after the step.
    expect(state_of({"LSTM", 4, activations, 0, true, nan}), {nan});
}

// ---- MEAN_VARIANCE_NORMALIZATION1: variances of FLOAT16 ----------------------------------------------------------

/// The elements are ±x, whose variance is x * x.
cpu::Reference normalised(const char* name, double x, float epsilon) {
    const auto desc = tensor(DataType::float16, {1, 1, 1, 2});
    const Descriptor descriptor = describe(
        name,
        {{"InputTensor", desc}, {"OutputTensor", desc}, {"Axes", {3}}, {"NormalizeVariance", 1}, {"Epsilon", epsilon}});
    Tensor input(desc);
    input.as<core::Float16>()[0] = core::Float16(x);
    input.as<core::Float16>()[1] = core::Float16(-x);
    return computed(descriptor, {&input, nullptr, nullptr}, "storedVariance");
}

TEST(Variants, VariancesAreStoredAsFloat16) {
    const auto range_of = [](const cpu::Reference& reference) {
        const double value = static_cast<double>(values_of<core::Float16>(reference.outputs[0])[0]);
        return cpu::Interval(value - reference.slack[0].below[0], value + reference.slack[0].above[0], false);
    };
    // 1024 * 1024 is stored as 65504.
    const cpu::Interval large = range_of(normalised("MEAN_VARIANCE_NORMALIZATION1", 1024, 0));
    EXPECT_TRUE(large.contains(4));
    EXPECT_FALSE(large.contains(1));
    EXPECT_FALSE(large.contains(3.98));
    EXPECT_FALSE(large.contains(4.02));
    const cpu::Interval ordinary = range_of(normalised("MEAN_VARIANCE_NORMALIZATION1", 2, 0));
    EXPECT_TRUE(ordinary.contains(1));
    EXPECT_FALSE(ordinary.contains(1.003));
    EXPECT_FALSE(ordinary.contains(0.997));
}

}  // namespace
}  // namespace dmlconform::tests::variants_test
