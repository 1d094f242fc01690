// Tests of engine/cpu/element_wise/machine: iteration over tensors, independent of the formula. The test computes
// addresses itself (tensor_values.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "engine/core/element.h"
#include "engine/cpu/element_wise/fused_activation.h"
#include "engine/cpu/element_wise/machine.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::element_wise_test {
namespace {

using core::DataType;
using core::Tensor;
using core::TensorDesc;
using operators::Descriptor;

constexpr auto f32 = DataType::float32;

/// Runs the kernel on outputs that are filled with gap_byte.
std::vector<Tensor> computed(const Descriptor& descriptor, const std::vector<const Tensor*>& inputs) {
    std::vector<Tensor> outputs;
    for (const auto& slot : descriptor.outputs()) {
        outputs.push_back(blank_tensor(*slot.desc));
    }
    std::vector<Tensor*> pointers;
    for (Tensor& output : outputs) {
        pointers.push_back(&output);
    }
    cpu::find_kernel(descriptor.schema->short_name())->compute({descriptor, inputs, pointers, {}});
    return outputs;
}

Descriptor binary(std::string_view op, const TensorDesc& a, const TensorDesc& b, const TensorDesc& output) {
    return describe(op, {{"ATensor", a}, {"BTensor", b}, {"OutputTensor", output}});
}

/// 1, 2, 3, …: sums and products of a few of these are exact.
Tensor counting(const TensorDesc& desc, float first = 1) {
    std::vector<float> values(count_of(desc.sizes));
    std::iota(values.begin(), values.end(), first);
    Tensor tensor = blank_tensor(desc);
    const auto addresses = addresses_of(desc);
    for (std::size_t i = 0; i < values.size(); ++i) {
        tensor.as<float>()[addresses[i]] = values[i];
    }
    return tensor;
}

/// Expects A - B for every element, and that nothing else is written.
void expect_met(const Tensor& a, const Tensor& b, const TensorDesc& output_desc, const std::string& what) {
    const Descriptor subtract =
        describe("ELEMENT_WISE_SUBTRACT", {{"ATensor", a.desc}, {"BTensor", b.desc}, {"OutputTensor", output_desc}});
    const Tensor output = std::move(computed(subtract, {&a, &b})[0]);
    const auto from_a = addresses_of(a.desc);
    const auto from_b = addresses_of(b.desc);
    const auto to = addresses_of(output_desc);
    std::vector<bool> written(output.as<float>().size());
    for (std::size_t i = 0; i < to.size(); ++i) {
        ASSERT_EQ(output.as<float>()[to[i]], a.as<float>()[from_a[i]] - b.as<float>()[from_b[i]])
            << what << ", element " << i;
        written[to[i]] = true;
    }
    const auto bytes = output.buffer.bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        ASSERT_TRUE(i / 4 < written.size() && written[i / 4] ? true : bytes[i] == gap_byte)
            << what << ": byte " << i << " of a gap was written";
    }
}

TEST(ElementWise, RunsShorterAndLongerThanASegment) {
    for (const std::uint32_t length : {1u, 2u, 255u, 256u, 257u, 511u, 512u, 513u, 1000u}) {
        const auto packed = tensor(f32, {3, length});
        const auto strided = tensor(f32, {3, length}, {2 * length + 3, 2});
        const std::string what = "length " + std::to_string(length);
        expect_met(counting(packed), counting(packed, 0.5f), packed, what);
        expect_met(counting(strided), counting(packed, 0.5f), packed, what + ", strided");
        expect_met(counting(packed), counting(strided, 0.5f), strided, what + ", strided output");
    }
}

TEST(ElementWise, BroadcastByStridesOfZero) {
    const core::Dimensions sizes{2, 3, 4, 300};
    const auto packed = tensor(f32, sizes);
    const std::vector<core::Dimensions> strides{{0, 0, 0, 0}, {0, 0, 0, 1},   {0, 1, 0, 0},      {1, 0, 0, 0},
                                                {0, 0, 1, 0}, {0, 300, 0, 1}, {1200, 0, 300, 1}, {3, 1, 0, 0}};
    for (const auto& pattern : strides) {
        const auto broadcast = tensor(f32, sizes, pattern);
        Tensor repeated = blank_tensor(broadcast);
        std::iota(repeated.as<float>().begin(), repeated.as<float>().end(), 0.25f);
        const std::string what = core::to_string(broadcast);
        expect_met(counting(packed), repeated, packed, what);
        expect_met(repeated, counting(packed), packed, what + " first");
        expect_met(repeated, repeated, packed, what + " twice");
    }
}

TEST(ElementWise, AnyLayout) {
    Random random(13);
    for (int i = 0; i < 300; ++i) {
        const auto sizes = random.sizes(random.pick<std::size_t>(1, 8), 9, 3000);
        const auto a = random.layout(f32, sizes, operators::FieldKind::input);
        const auto b = random.layout(f32, sizes, operators::FieldKind::input);
        const auto output = random.layout(f32, sizes, operators::FieldKind::output);
        const auto element = [&] { return static_cast<float>(random.pick(-1000, 1000)); };
        expect_met(random.filled<float>(a, element), random.filled<float>(b, element), output,
                   core::to_string(a) + " - " + core::to_string(b) + " to " + core::to_string(output));
    }
}

/// The output uses the memory of an input, as DirectML allows.
TEST(ElementWise, InPlace) {
    const auto desc = tensor(f32, {2, 700});
    const Descriptor subtract = binary("ELEMENT_WISE_SUBTRACT", desc, desc, desc);
    const Tensor a = counting(desc);
    const Tensor b = counting(desc, -3000);
    const auto expected = values_of<float>(computed(subtract, {&a, &b})[0]);
    for (const bool first : {true, false}) {
        Tensor both = counting(desc, first ? 1.0f : -3000.0f);
        const std::vector<const Tensor*> inputs{first ? &both : &a, first ? &b : &both};
        const std::vector<Tensor*> outputs{&both};
        cpu::find_kernel("ELEMENT_WISE_SUBTRACT")->compute({subtract, inputs, outputs, {}});
        EXPECT_EQ(values_of<float>(both), expected) << (first ? "A" : "B");
    }
}

struct Adam {
    Descriptor descriptor;
    std::vector<Tensor> tensors;  // X, M, V, G, T
    std::vector<const Tensor*> inputs;

    explicit Adam(const TensorDesc& desc)
        : descriptor(describe("ADAM_OPTIMIZER", {{"InputParametersTensor", desc},
                                                 {"InputFirstMomentTensor", desc},
                                                 {"InputSecondMomentTensor", desc},
                                                 {"GradientTensor", desc},
                                                 {"TrainingStepTensor", tensor(DataType::uint32, {1, 1})},
                                                 {"OutputParametersTensor", desc},
                                                 {"OutputFirstMomentTensor", desc},
                                                 {"OutputSecondMomentTensor", desc},
                                                 {"LearningRate", 0.25},
                                                 {"Beta1", 0.5},
                                                 {"Beta2", 0.75},
                                                 {"Epsilon", 0}})) {
        for (const float first : {100.0f, 0.0f, 8.0f, 4.0f}) {
            tensors.push_back(counting(desc, first));
        }
        tensors.push_back(tensor_of<std::uint32_t>(tensor(DataType::uint32, {1, 1}), {1}));
        for (const Tensor& tensor : tensors) {
            inputs.push_back(&tensor);
        }
    }
};

TEST(ElementWise, SeveralOutputs) {
    const auto desc = tensor(f32, {3, 300}, {301, 1});
    const Adam adam(desc);
    const auto outputs = computed(adam.descriptor, adam.inputs);
    ASSERT_EQ(outputs.size(), 3u);
    const auto parameters = values_of<float>(outputs[0]);
    const auto moments = values_of<float>(outputs[1]);
    const auto squares = values_of<float>(outputs[2]);
    for (std::size_t i = 0; i < 900; ++i) {
        const auto k = static_cast<double>(i);
        const double m = 0.5 * k + 0.5 * (k + 4);
        const double v = 0.75 * (k + 8) + 0.25 * (k + 4) * (k + 4);
        ASSERT_EQ(moments[i], static_cast<float>(m)) << i;
        ASSERT_EQ(squares[i], static_cast<float>(v)) << i;
        // T = 1, so sqrt(1 - 0.75) / (1 - 0.5) = 1.
        ASSERT_EQ(parameters[i], static_cast<float>(100 + k - 0.25 * m / std::sqrt(v))) << i;
    }
}

TEST(ElementWise, SeveralOutputsInPlace) {
    const auto desc = tensor(f32, {900});
    const Adam adam(desc);
    const auto expected = computed(adam.descriptor, adam.inputs);
    Adam again(desc);
    const std::vector<Tensor*> outputs{&again.tensors[0], &again.tensors[1], &again.tensors[2]};
    cpu::find_kernel("ADAM_OPTIMIZER")->compute({again.descriptor, again.inputs, outputs, {}});
    for (std::size_t o = 0; o < 3; ++o) {
        EXPECT_EQ(values_of<float>(again.tensors[o]), values_of<float>(expected[o])) << "output " << o;
    }
}

Descriptor quantise(const TensorDesc& input, const TensorDesc& scale, const TensorDesc& zero,
                    const TensorDesc& output) {
    return describe("QUANTIZE",
                    {{"InputTensor", input},
                     {"QuantizationType", 2},
                     {"QuantizationTensors", operators::FieldValue(operators::TensorDescArray{{scale, zero}})},
                     {"OutputTensor", output}});
}

/// Each block of neighbouring elements has a scale: element i uses the scale at i / (size / number of scales).
TEST(ElementWise, BlocksOfQuantize) {
    const core::Dimensions sizes{2, 4, 6, 8};
    const std::vector<core::Dimensions> scale_sizes{{1, 1, 1, 1}, {2, 4, 6, 8}, {1, 4, 1, 2}, {2, 2, 2, 2},
                                                    {1, 1, 3, 1}, {2, 1, 1, 8}, {1, 2, 6, 4}};
    for (const auto& blocks : scale_sizes) {
        for (const bool strided : {false, true}) {
            const auto input_desc = strided ? tensor(f32, sizes, {300, 72, 10, 1}) : tensor(f32, sizes);
            const auto scale_desc = tensor(f32, blocks);
            const auto zero_desc = tensor(DataType::int8, blocks);
            const auto output_desc = tensor(DataType::int8, sizes);
            const std::size_t count = count_of(blocks);
            std::vector<float> scales(count);
            std::vector<std::int8_t> zeros(count);
            for (std::size_t k = 0; k < count; ++k) {
                scales[k] = static_cast<float>(k % 7 + 1);
                zeros[k] = static_cast<std::int8_t>(k % 50);
            }
            const Tensor input = counting(input_desc, -200);
            const Tensor scale = tensor_of(scale_desc, scales);
            const Tensor zero = tensor_of(zero_desc, zeros);
            const Descriptor descriptor = quantise(input_desc, scale_desc, zero_desc, output_desc);
            const auto output = values_of<std::int8_t>(computed(descriptor, {&input, &scale, &zero})[0]);
            for (std::size_t i = 0; i < output.size(); ++i) {
                auto coordinates = coordinates_of(i, sizes);
                for (std::size_t d = 0; d < sizes.size(); ++d) {
                    coordinates[d] /= sizes[d] / blocks[d];
                }
                const std::size_t k = index_of(coordinates, blocks);
                const float x = -200 + static_cast<float>(i);
                const float expected =
                    std::clamp(std::nearbyint(x / scales[k]) + static_cast<float>(zeros[k]), -128.0f, 127.0f);
                ASSERT_EQ(output[i], static_cast<std::int8_t>(expected))
                    << core::to_string(scale_desc) << " element " << i;
            }
        }
    }
}

/// Two elements share a byte. With an odd number of elements, the unused half byte is kept.
TEST(ElementWise, PackedElements) {
    const auto input_desc = tensor(f32, {3, 3});
    const auto scale_desc = tensor(f32, {1, 1});
    for (const auto& [type, expected] :
         {std::pair{DataType::uint4, std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 15, 15, 15}},
          std::pair{DataType::int4, std::vector<std::uint64_t>{15, 0, 1, 2, 3, 4, 7, 7, 7}}}) {
        const bool is_signed = type == DataType::int4;
        for (const bool gaps : {false, true}) {
            const auto output_desc = gaps ? tensor(type, {3, 3}, {7, 2}) : tensor(type, {3, 3});
            const auto zero_desc = tensor(type, {1, 1});
            const Tensor input = tensor_of<float>(input_desc, {0, 1, 2, 3, 4, 5, 20, 30, 40});
            const Tensor scale = tensor_of<float>(scale_desc, {1});
            Tensor zero(zero_desc);
            core::store_element(zero.buffer.bytes(), type, 0, is_signed ? 15 : 0);
            const Tensor output = std::move(
                computed(quantise(input_desc, scale_desc, zero_desc, output_desc), {&input, &scale, &zero})[0]);
            const auto addresses = addresses_of(output_desc);
            for (std::size_t at = 0; at < output.buffer.bytes().size() * 2; ++at) {
                const auto found = std::find(addresses.begin(), addresses.end(), at);
                const std::uint64_t bits = core::load_element(output.buffer.bytes(), type, at);
                const std::uint64_t gap = at % 2 == 0 ? 0xd : 0xc;
                EXPECT_EQ(bits, found == addresses.end()
                                    ? gap
                                    : expected[static_cast<std::size_t>(found - addresses.begin())])
                    << core::to_string(output_desc) << " at " << at;
            }
            const Descriptor back = describe(
                "DEQUANTIZE",
                {{"InputTensor", output_desc},
                 {"QuantizationType", 2},
                 {"QuantizationTensors", operators::FieldValue(operators::TensorDescArray{{scale_desc, zero_desc}})},
                 {"OutputTensor", input_desc}});
            const std::vector<float> values = is_signed ? std::vector<float>{0, 1, 2, 3, 4, 5, 8, 8, 8}
                                                        : std::vector<float>{0, 1, 2, 3, 4, 5, 15, 15, 15};
            EXPECT_EQ(values_of<float>(computed(back, {&output, &scale, &zero})[0]), values);
        }
    }
}

/// Compares a tensor that several threads share with smaller tensors that a single thread computes.
TEST(ElementWise, ThreadsDoNotMatter) {
    constexpr std::size_t rows = 64;
    constexpr std::uint32_t length = 20'001;
    const auto whole_desc = tensor(f32, {rows, length});
    const auto row_desc = tensor(f32, {1, length});
    Random random(5);
    const auto element = [&] { return random.normal(); };
    const Tensor a = random.filled<float>(whole_desc, element);
    const Tensor b = random.filled<float>(whole_desc, element);
    const auto whole = cpu::compute_reference(binary("ELEMENT_WISE_DIVIDE", whole_desc, whole_desc, whole_desc),
                                              std::vector<const Tensor*>{&a, &b});
    for (std::size_t row = 0; row < rows; ++row) {
        Tensor row_a(row_desc);
        Tensor row_b(row_desc);
        std::copy_n(a.as<float>().begin() + static_cast<std::ptrdiff_t>(row * length), length,
                    row_a.as<float>().begin());
        std::copy_n(b.as<float>().begin() + static_cast<std::ptrdiff_t>(row * length), length,
                    row_b.as<float>().begin());
        const auto part = cpu::compute_reference(binary("ELEMENT_WISE_DIVIDE", row_desc, row_desc, row_desc),
                                                 std::vector<const Tensor*>{&row_a, &row_b});
        for (std::size_t i = 0; i < length; ++i) {
            const std::size_t k = row * length + i;
            ASSERT_EQ(whole.outputs[0].as<float>()[k], part.outputs[0].as<float>()[i]) << k;
            ASSERT_EQ(whole.slack[0].below[k], part.slack[0].below[i]) << k;
            ASSERT_EQ(whole.slack[0].above[k], part.slack[0].above[i]) << k;
        }
    }
}

/// Slack is stored in the order of elements, not of addresses.
TEST(ElementWise, SlackOfStridedTensors) {
    const auto packed = tensor(f32, {4, 300});
    const auto strided = tensor(f32, {4, 300}, {1, 5});
    const Tensor x = counting(packed, 1);
    const auto expected =
        cpu::compute_reference(describe("ELEMENT_WISE_LOG", {{"InputTensor", packed}, {"OutputTensor", packed}}),
                               std::vector<const Tensor*>{&x});
    const auto found =
        cpu::compute_reference(describe("ELEMENT_WISE_LOG", {{"InputTensor", packed}, {"OutputTensor", strided}}),
                               std::vector<const Tensor*>{&x});
    EXPECT_EQ(found.slack[0].below, expected.slack[0].below);
    EXPECT_EQ(found.slack[0].above, expected.slack[0].above);
    EXPECT_GT(expected.slack[0].above[5], 0);
}

/// Results of loops without temporary arrays equal those of loops with them.
TEST(ElementWise, DirectLoopsGiveTheSameBits) {
    Random random(53);
    const float special[] = {0, -0.0f, 1, -1, 0.5f, INFINITY, -INFINITY, NAN, 0x1p-149f, 0x1p-126f, 0x1.fffffep127f};
    constexpr std::size_t count = 300;
    std::size_t rows = 0;
    for (const auto& [name, row] : cpu::element_wise::all_rows()) {
        if (row.direct == nullptr) {
            EXPECT_TRUE(row.real == nullptr || row.outputs > 1) << name;
            continue;
        }
        ++rows;
        cpu::element_wise::Context<double> context;
        context.attributes = {0.75, 0.25, 1.5, 2};
        context.highest = 1000;
        std::vector<std::vector<float>> in(row.inputs, std::vector<float>(count));
        std::vector<std::vector<double>> doubles(row.inputs);
        std::vector<const float*> from;
        std::vector<const double*> doubles_from;
        for (std::size_t i = 0; i < row.inputs; ++i) {
            std::generate(in[i].begin(), in[i].end(), [&] {
                return random.one_in(3) ? special[random.pick<std::size_t>(0, std::size(special) - 1)]
                                        : random.uniform(-100, 100);
            });
            doubles[i].assign(in[i].begin(), in[i].end());
            from.push_back(in[i].data());
            doubles_from.push_back(doubles[i].data());
        }
        std::vector<float> direct(count);
        std::vector<double> staged(count);
        double* const to = staged.data();
        row.direct(from, direct.data(), count, context);
        row.real(doubles_from, {&to, 1}, count, context);
        for (std::size_t k = 0; k < count; ++k) {
            const auto expected = static_cast<float>(staged[k]);
            if (std::isnan(expected)) {
                ASSERT_TRUE(std::isnan(direct[k])) << name << ", element " << k;
            } else {
                ASSERT_EQ(std::bit_cast<std::uint32_t>(direct[k]), std::bit_cast<std::uint32_t>(expected))
                    << name << ", element " << k;
            }
        }
    }
    EXPECT_GT(rows, 60u);
}

// ---- what goes around a formula ----------------------------------------------------------------------------------

/// The text of a tolerance says what ScaleBias and FLOAT16 add to what is exact otherwise.
TEST(ElementWise, TextsOfTolerances) {
    const auto text = [](std::string_view op, DataType from, DataType to, std::vector<Setting> more = {}) {
        std::vector<Setting> settings{{"InputTensor", tensor(from, {1, 1, 1, 2})},
                                      {"OutputTensor", tensor(to, {1, 1, 1, 2})}};
        settings.insert(settings.end(), more.begin(), more.end());
        const auto descriptor = describe(op, settings);
        return std::string(cpu::default_tolerance(descriptor, descriptor.outputs()[0]).slack_formula);
    };
    constexpr DataType single = DataType::float32;
    constexpr DataType half = DataType::float16;
    const std::string exact = "exact, but for subnormal numbers, which may count as zero";
    const std::string scaled = "FP32 as Direct3D allows it (*: one rounding; +: one rounding)";
    const std::string to_half = ", then rounded to 16 bits, to nearest or towards zero";
    const std::vector<Setting> by{{"ScaleBias", operators::FieldValue(operators::ScaleBias{2, 0.5})}};
    EXPECT_EQ(text("ELEMENT_WISE_IDENTITY", single, single), exact);
    EXPECT_EQ(text("ELEMENT_WISE_IDENTITY", single, single, by), scaled);
    EXPECT_EQ(text("ELEMENT_WISE_IDENTITY", half, half), exact);
    EXPECT_EQ(text("ELEMENT_WISE_IDENTITY", half, half, by), scaled + to_half);
    EXPECT_EQ(text("CAST", single, single), exact);
    EXPECT_EQ(text("CAST", single, half), exact + to_half);
    EXPECT_EQ(text("ELEMENT_WISE_CLIP", half, half, {{"Min", 0.1}, {"Max", 1}}), exact + to_half) << "0.1 is rounded";
}

TEST(ElementWise, ScaleBias) {
    const auto abs = [](DataType type, operators::ScaleBias scale_bias) {
        const auto desc = tensor(type, {4});
        return describe(
            "ELEMENT_WISE_ABS",
            {{"InputTensor", desc}, {"OutputTensor", desc}, {"ScaleBias", operators::FieldValue(scale_bias)}});
    };
    const Tensor x = tensor_of<float>(tensor(f32, {4}), {1, -2, 0.5f, -8});
    EXPECT_EQ(values_of<float>(computed(abs(f32, {2, -1}), {&x})[0]), (std::vector<float>{1, 5, 0, 17}));
    // For integers, parameters are truncated and clamped to the type before the function is applied.
    const Tensor n = tensor_of<std::int8_t>(tensor(DataType::int8, {4}), {100, 3, -3, -100});
    EXPECT_EQ(values_of<std::int8_t>(computed(abs(DataType::int8, {1.5f, 0.25f}), {&n})[0]),
              (std::vector<std::int8_t>{127, 4, 4, 127}));
    EXPECT_EQ(values_of<std::int8_t>(computed(abs(DataType::int8, {1, 0}), {&n})[0]),
              (std::vector<std::int8_t>{100, 3, 3, 100}))
        << "which counts as absent";
}

/// CAST has 0 for NaN, and so have the bounds of integers, also where ScaleBias makes reals of them.
TEST(ElementWise, NanBoundsOfIntegersAreZero) {
    using Bytes = std::vector<std::int8_t>;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const auto desc = tensor(DataType::int8, {4});
    const Tensor x = tensor_of<std::int8_t>(desc, {-100, -5, 1, 5});
    const auto of = [&](std::string_view op, operators::ScaleBias by, std::vector<Setting> bounds) {
        bounds.insert(bounds.end(), {{"InputTensor", desc}, {"OutputTensor", desc}});
        bounds.emplace_back("ScaleBias", operators::FieldValue(by));
        return values_of<std::int8_t>(computed(describe(op, bounds), {&x})[0]);
    };
    EXPECT_EQ(of("ELEMENT_WISE_THRESHOLD", {1, 0}, {{"Min", nan}}), (Bytes{0, 0, 1, 5}));
    EXPECT_EQ(of("ELEMENT_WISE_THRESHOLD", {1, 1}, {{"Min", nan}}), (Bytes{0, 0, 2, 6}));
    EXPECT_EQ(of("ELEMENT_WISE_CLIP", {1, 0}, {{"Min", nan}, {"Max", 3.0f}}), (Bytes{0, 0, 1, 3}));
    EXPECT_EQ(of("ELEMENT_WISE_CLIP", {1, 1}, {{"Min", nan}, {"Max", 3.0f}}), (Bytes{0, 0, 2, 3}));
    EXPECT_EQ(of("ELEMENT_WISE_CLIP", {1, 0}, {{"Min", -3.0f}, {"Max", nan}}), (Bytes{-3, -3, 0, 0}));
    EXPECT_EQ(of("ELEMENT_WISE_CLIP", {1, 1}, {{"Min", -3.0f}, {"Max", nan}}), (Bytes{-3, -3, 0, 0}));
}

TEST(ElementWise, FusedActivation) {
    const auto desc = tensor(f32, {4});
    const Tensor a = tensor_of<float>(desc, {1, 2, -3, -4});
    const Tensor b = tensor_of<float>(desc, {1, -5, 1, 5});
    const Descriptor descriptor = describe(
        "ELEMENT_WISE_ADD1", {{"ATensor", desc},
                              {"BTensor", desc},
                              {"OutputTensor", desc},
                              {"FusedActivation", activation("ACTIVATION_LINEAR", {{"Alpha", 2}, {"Beta", 10}})}});
    EXPECT_EQ(values_of<float>(computed(descriptor, {&a, &b})[0]), (std::vector<float>{14, 4, 6, 12}));
    const cpu::element_wise::FusedActivation none(nullptr);
    EXPECT_FALSE(none.is_present());
    EXPECT_EQ(none(5.0), 5);
}

TEST(ElementWise, AbsentZeroPoints) {
    const auto desc = tensor(f32, {3});
    const auto bytes = tensor(DataType::uint8, {3});
    const Tensor x = tensor_of<float>(desc, {0, 1, 300});
    const Tensor one = tensor_of<float>(desc, {1, 1, 1});
    const Descriptor linear = describe("ELEMENT_WISE_QUANTIZE_LINEAR",
                                       {{"InputTensor", desc}, {"ScaleTensor", desc}, {"OutputTensor", bytes}});
    EXPECT_EQ(values_of<std::uint8_t>(computed(linear, {&x, &one, nullptr})[0]),
              (std::vector<std::uint8_t>{0, 1, 255}));
    const Descriptor quantise =
        describe("QUANTIZE", {{"InputTensor", desc},
                              {"QuantizationType", 1},
                              {"QuantizationTensors", operators::FieldValue(operators::TensorDescArray{{desc}})},
                              {"OutputTensor", bytes}});
    EXPECT_EQ(values_of<std::uint8_t>(computed(quantise, {&x, &one})[0]), (std::vector<std::uint8_t>{128, 129, 255}));
}

/// Direct3D lets FLOAT16 be rounded to nearest or towards zero, and DirectML does the latter.
TEST(ElementWise, IntegersBecomeFloat16ByEitherRounding) {
    for (const DataType type :
         {DataType::int64, DataType::int32, DataType::int16, DataType::uint64, DataType::uint32, DataType::uint16}) {
        const Descriptor cast =
            describe("CAST", {{"InputTensor", tensor(type, {4})}, {"OutputTensor", tensor(DataType::float16, {4})}});
        const auto output = cast.outputs()[0];
        Tensor input = blank_tensor(tensor(type, {4}));
        const std::array<std::uint64_t, 4> numbers{2049, 2051, 2050, 7};
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            core::store_element(input.buffer.bytes(), type, i, numbers[i]);
        }
        const std::vector<const Tensor*> inputs{&input};
        const cpu::Reference reference = cpu::compute_reference(cast, inputs);
        const core::Tolerance tolerance = cpu::default_tolerance(cast, output);
        ASSERT_TRUE(tolerance.element_slack) << core::name(type);
        const core::ElementSlack& slack = reference.slack[0];
        EXPECT_EQ(slack.below, (std::vector<double>{0, 2, 0, 0})) << core::name(type);
        EXPECT_EQ(slack.above, (std::vector<double>{2, 0, 0, 0})) << core::name(type);
    }
}

/// DirectML converts both integers to FP32 before it subtracts them.
TEST(ElementWise, IntegersAreRoundedBeforeTheyAreDequantised) {
    const auto desc = tensor(DataType::int32, {1});
    const Descriptor dequantize = describe("ELEMENT_WISE_DEQUANTIZE_LINEAR", {{"InputTensor", desc},
                                                                              {"ScaleTensor", tensor(f32, {1})},
                                                                              {"ZeroPointTensor", desc},
                                                                              {"OutputTensor", tensor(f32, {1})}});
    Tensor x = blank_tensor(desc);
    x.as<std::int32_t>()[0] = 0x1000001;
    Tensor zero_point = blank_tensor(desc);
    zero_point.as<std::int32_t>()[0] = 0x1000000;
    Tensor scale = blank_tensor(tensor(f32, {1}));
    scale.as<float>()[0] = 1;
    const std::vector<const Tensor*> inputs{&x, &scale, &zero_point};
    const cpu::Reference reference = cpu::compute_reference(dequantize, inputs);
    EXPECT_EQ(reference.outputs[0].as<float>()[0], 1);
    EXPECT_EQ(reference.slack[0].below[0], 1);
    EXPECT_EQ(reference.slack[0].above[0], 1);
}

}  // namespace
}  // namespace dmlconform::tests::element_wise_test
