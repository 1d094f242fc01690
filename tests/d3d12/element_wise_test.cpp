// Tests of element-wise operators on the D3D12 engine: values that the test computes itself, layouts, remainders, and
// arithmetic that shaders emulate with 32-bit words.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "engine/d3d12/planning/binding.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::element_wise_test {
namespace {

using core::DataType;
using operators::Descriptor;

constexpr std::array types{DataType::float64, DataType::float32, DataType::float16, DataType::int64,
                           DataType::int32,   DataType::int16,   DataType::int8,    DataType::uint64,
                           DataType::uint32,  DataType::uint16,  DataType::uint8};

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

using ElementWiseOnD3d12 = D3d12Test;

template <class T>
std::vector<core::Tensor> tensors_of(const Descriptor& descriptor, const std::vector<std::vector<T>>& values) {
    std::vector<core::Tensor> tensors;
    const auto slots = descriptor.inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        tensors.push_back(tensor_of<T>(*slots[i].desc, values[i]));
    }
    return tensors;
}

/// The output of an operator with one input or two, all of the type `In`.
template <class In, class Out>
std::vector<Out> results(Engine& engine, std::string_view op, DataType in, DataType out,
                         const std::vector<std::vector<In>>& inputs) {
    const auto size = static_cast<std::uint32_t>(inputs.front().size());
    std::vector<Setting> settings;
    const bool is_binary = inputs.size() == 2;
    settings.emplace_back(is_binary ? "ATensor" : "InputTensor", tensor(in, {size}));
    if (is_binary) {
        settings.emplace_back("BTensor", tensor(in, {size}));
    }
    settings.emplace_back("OutputTensor", tensor(out, {size}));
    const Descriptor descriptor = describe(op, settings);
    return values_of<Out>(run_on(engine, descriptor, tensors_of(descriptor, inputs))[0]);
}

TEST_F(ElementWiseOnD3d12, ValuesWorkedOutByHand) {
    using Floats = std::vector<float>;
    using Bytes = std::vector<std::int8_t>;
    const auto floats = [&](std::string_view op, const std::vector<Floats>& inputs) {
        return results<float, float>(engine(), op, DataType::float32, DataType::float32, inputs);
    };
    EXPECT_EQ(floats("ELEMENT_WISE_ADD", {{1, -2, 0.5}, {2, 5, 0.25}}), (Floats{3, 3, 0.75}));
    EXPECT_EQ(floats("ELEMENT_WISE_ABS", {{-1, 2, -infinity, -0.0f, 0.5}}), (Floats{1, 2, infinity, 0, 0.5}));
    EXPECT_EQ(floats("ACTIVATION_RELU", {{-1, 2, nan, -infinity, infinity}}), (Floats{0, 2, 0, 0, infinity}));
    EXPECT_EQ(floats("ELEMENT_WISE_MIN", {{nan, 1, -3}, {2, nan, 4}}), (Floats{2, 1, -3}));
    EXPECT_EQ(floats("ELEMENT_WISE_MODULUS_FLOOR", {{7, -7, 7, 1e10f}, {2, 2, -2, 3}}), (Floats{1, 1, -1, 1}));

    const auto bytes = [&](std::string_view op, const std::vector<Bytes>& inputs) {
        return results<std::int8_t, std::int8_t>(engine(), op, DataType::int8, DataType::int8, inputs);
    };
    EXPECT_EQ(bytes("ELEMENT_WISE_ADD", {{127, -128, 5}, {1, -1, 6}}), (Bytes{-128, 127, 11}));
    EXPECT_EQ(bytes("ELEMENT_WISE_ABS", {{-128, -5, 5}}), (Bytes{127, 5, 5}));
    EXPECT_EQ(bytes("ELEMENT_WISE_DIVIDE", {{-7, 7, 0, -128, -1}, {2, 0, 0, -1, 0}}), (Bytes{-3, -1, -1, -128, 1}));
    EXPECT_EQ(bytes("ELEMENT_WISE_MODULUS_FLOOR", {{-7, 7, 7, -128}, {2, -2, 0, 0}}), (Bytes{1, -1, -1, 1}));
    EXPECT_EQ(bytes("ELEMENT_WISE_BIT_AND", {{12, -1}, {10, 7}}), (Bytes{8, 7}));
    EXPECT_EQ((results<float, std::uint8_t>(engine(), "ELEMENT_WISE_LOGICAL_EQUALS", DataType::float32, DataType::uint8,
                                            {{1, nan, -0.0f}, {1, nan, 0.0f}})),
              (std::vector<std::uint8_t>{1, 0, 1}));
    EXPECT_EQ((results<float, std::int8_t>(engine(), "CAST", DataType::float32, DataType::int8,
                                           {{2.5, -1.5, 127.5, 300, -129, nan, -infinity}})),
              (Bytes{2, -1, 127, 127, -128, 0, -128}));
    EXPECT_EQ((results<std::int8_t, std::uint32_t>(engine(), "CAST", DataType::int8, DataType::uint32, {{-1, 1}})),
              (std::vector<std::uint32_t>{4294967295u, 1}));
}

TEST_F(ElementWiseOnD3d12, QuantizesTiesToEvenAndNaNToZero) {
    const Descriptor quantize =
        describe("ELEMENT_WISE_QUANTIZE_LINEAR", {{"InputTensor", tensor(DataType::float32, {7})},
                                                  {"ScaleTensor", tensor(DataType::float32, {7})},
                                                  {"OutputTensor", tensor(DataType::uint8, {7})}});
    std::vector<core::Tensor> inputs;
    inputs.push_back(tensor_of<float>(tensor(DataType::float32, {7}), {1, 3, 5, nan, infinity, -4, 1}));
    inputs.push_back(tensor_of<float>(tensor(DataType::float32, {7}), {2, 2, 2, 1, 1, 1, 0}));
    inputs.emplace_back();
    EXPECT_EQ(values_of<std::uint8_t>(run_on(engine(), quantize, inputs)[0]),
              (std::vector<std::uint8_t>{0, 2, 2, 0, 255, 0, 255}));
}

/// Compares with the same operation in C++.
template <class T, class Expected>
void expect_arithmetic(Engine& engine, std::string_view op, DataType type, Expected&& expected) {
    SCOPED_TRACE(op);
    Random random(1);
    std::vector<std::vector<T>> inputs(2);
    std::vector<T> wanted;
    for (int i = 0; i < 1003; ++i) {
        // Operands of all magnitudes, which also give quotients of all magnitudes.
        inputs[0].push_back(static_cast<T>(random.bits()) >> random.between(0, 63));
        const T second = static_cast<T>(random.bits()) >> random.between(0, 62);
        inputs[1].push_back(second == 0 ? 1 : second);
        wanted.push_back(expected(inputs[0].back(), inputs[1].back()));
    }
    EXPECT_EQ((results<T, T>(engine, op, type, type, inputs)), wanted);
}

TEST_F(ElementWiseOnD3d12, IntegersOf64BitsAreMadeOfWords) {
    using Unsigned = std::uint64_t;
    using Signed = std::int64_t;
    const auto both = [&](std::string_view op, auto expected) {
        expect_arithmetic<Unsigned>(engine(), op, DataType::uint64, expected);
        expect_arithmetic<Signed>(engine(), op, DataType::int64, [&](Signed a, Signed b) {
            return static_cast<Signed>(expected(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
        });
    };
    both("ELEMENT_WISE_ADD", [](Unsigned a, Unsigned b) { return a + b; });
    both("ELEMENT_WISE_SUBTRACT", [](Unsigned a, Unsigned b) { return a - b; });
    both("ELEMENT_WISE_MULTIPLY", [](Unsigned a, Unsigned b) { return a * b; });
    both("ELEMENT_WISE_BIT_XOR", [](Unsigned a, Unsigned b) { return a ^ b; });
    expect_arithmetic<Unsigned>(engine(), "ELEMENT_WISE_DIVIDE", DataType::uint64,
                                [](Unsigned a, Unsigned b) { return a / b; });
    expect_arithmetic<Unsigned>(engine(), "ELEMENT_WISE_MODULUS_FLOOR", DataType::uint64,
                                [](Unsigned a, Unsigned b) { return a % b; });
    expect_arithmetic<Signed>(engine(), "ELEMENT_WISE_DIVIDE", DataType::int64,
                              [](Signed a, Signed b) { return a / b; });
    expect_arithmetic<Signed>(engine(), "ELEMENT_WISE_MODULUS_TRUNCATE", DataType::int64,
                              [](Signed a, Signed b) { return a % b; });
    expect_arithmetic<Signed>(engine(), "ELEMENT_WISE_MAX", DataType::int64,
                              [](Signed a, Signed b) { return std::max(a, b); });
    expect_arithmetic<Unsigned>(engine(), "ELEMENT_WISE_BIT_SHIFT_LEFT", DataType::uint64,
                                [](Unsigned a, Unsigned b) { return a << (b < 64 ? b : 32 + b % 32); });
}

/// Numbers of all magnitudes, including ties of FLOAT16.
std::vector<float> spread_numbers() {
    Random random(2);
    std::vector<float> numbers{65504, 65519.996f, 65520, 1e30f, 5.9604645e-8f, 2.9802322e-8f, 0x1.8p-24f, -0.0f};
    while (numbers.size() < 4001) {
        const auto bits = static_cast<std::uint32_t>(random.bits());
        const auto number = std::bit_cast<float>(random.chance(2) ? bits & 0xfffff000u : bits);
        if (std::isfinite(number) && (number == 0 || std::fabs(number) >= std::numeric_limits<float>::min())) {
            numbers.push_back(std::clamp(number, -1e18f, 1e18f));
        }
    }
    return numbers;
}

TEST_F(ElementWiseOnD3d12, ConvertsAsCppDoes) {
    const std::vector<float> numbers = spread_numbers();
    std::vector<double> doubles;
    std::vector<std::uint16_t> halves;
    std::vector<std::int64_t> integers;
    for (const float number : numbers) {
        doubles.push_back(double{number} * 1.000000059604644775390625);
        halves.push_back(core::float16_bits_from_double(number));
        integers.push_back(number >= 0x1p63f ? std::numeric_limits<std::int64_t>::max()
                                             : static_cast<std::int64_t>(number));
    }
    EXPECT_EQ((results<float, std::uint16_t>(engine(), "CAST", DataType::float32, DataType::float16, {numbers})),
              halves);
    EXPECT_EQ((results<float, std::int64_t>(engine(), "CAST", DataType::float32, DataType::int64, {numbers})),
              integers);
    std::vector<float> from_doubles;
    std::vector<std::uint16_t> halves_of_doubles;
    for (const double number : doubles) {
        from_doubles.push_back(static_cast<float>(number));
        halves_of_doubles.push_back(core::float16_bits_from_double(number));
    }
    EXPECT_EQ((results<double, float>(engine(), "CAST", DataType::float64, DataType::float32, {doubles})),
              from_doubles);
    EXPECT_EQ((results<double, std::uint16_t>(engine(), "CAST", DataType::float64, DataType::float16, {doubles})),
              halves_of_doubles);
    Random random(3);
    std::vector<std::int64_t> words;
    std::vector<float> from_words;
    std::vector<double> doubles_from_words;
    for (int i = 0; i < 2001; ++i) {
        words.push_back(static_cast<std::int64_t>(random.bits()) >> random.between(0, 63));
        from_words.push_back(static_cast<float>(words.back()));
        doubles_from_words.push_back(static_cast<double>(words.back()));
    }
    EXPECT_EQ((results<std::int64_t, float>(engine(), "CAST", DataType::int64, DataType::float32, {words})),
              from_words);
    EXPECT_EQ((results<std::int64_t, double>(engine(), "CAST", DataType::int64, DataType::float64, {words})),
              doubles_from_words);
}

TEST_F(ElementWiseOnD3d12, DividesAndRootsToTheLastBit) {
    std::vector<float> numbers;
    for (const float number : spread_numbers()) {
        // The range in which divide_exactly is correctly rounded.
        if (std::fabs(number) > 1e-9f && std::fabs(number) < 1e9f) {
            numbers.push_back(number);
        }
    }
    const std::vector<float> divisors(numbers.rbegin(), numbers.rend());
    std::vector<float> quotients;
    std::vector<float> magnitudes;
    std::vector<float> roots;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        quotients.push_back(numbers[i] / divisors[i]);
        magnitudes.push_back(std::fabs(numbers[i]));
        roots.push_back(std::sqrt(magnitudes.back()));
    }
    const auto run = [&](std::string_view op, const std::vector<std::vector<float>>& inputs) {
        return results<float, float>(engine(), op, DataType::float32, DataType::float32, inputs);
    };
    EXPECT_EQ(run("ELEMENT_WISE_DIVIDE", {numbers, divisors}), quotients);
    EXPECT_EQ(run("ELEMENT_WISE_SQRT", {magnitudes}), roots);
}

/// Copied bits are unchanged, between any layouts, also in an incomplete last group of four elements.
TEST_F(ElementWiseOnD3d12, MovesBitsOfEveryTypeAndLayout) {
    Random random(4);
    for (const DataType type : types) {
        for (const std::uint32_t size : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 63u, 64u, 1021u}) {
            const Descriptor copy = describe("ELEMENT_WISE_IDENTITY", {{"InputTensor", tensor(type, {size})},
                                                                       {"OutputTensor", tensor(type, {size})}});
            std::vector<core::Tensor> inputs;
            inputs.push_back(random_bits(random, *copy.tensor("InputTensor")));
            EXPECT_EQ(elements_of(run_on(engine(), copy, inputs)[0]), elements_of(inputs[0])) << text_of(copy);
        }
        for (int turn = 0; turn < 20; ++turn) {
            const core::Dimensions sizes = random_sizes(random, random.between(1, 8), 2000);
            const Descriptor copy =
                describe("ELEMENT_WISE_IDENTITY", {{"InputTensor", random_input(random, type, sizes)},
                                                   {"OutputTensor", random_output(random, type, sizes)}});
            std::vector<core::Tensor> inputs;
            inputs.push_back(random_bits(random, *copy.tensor("InputTensor")));
            EXPECT_EQ(elements_of(run_on(engine(), copy, inputs)[0]), elements_of(inputs[0])) << text_of(copy);
        }
    }
}

TEST_F(ElementWiseOnD3d12, QuantizingToBytesHasAShaderOfItsOwn) {
    const auto shader = [](DataType from, DataType to, const core::TensorDesc& scale) {
        const core::Dimensions sizes{2, 8};
        const Descriptor quantize = describe("ELEMENT_WISE_QUANTIZE_LINEAR", {{"InputTensor", tensor(from, sizes)},
                                                                              {"ScaleTensor", scale},
                                                                              {"ZeroPointTensor", tensor(to, sizes)},
                                                                              {"OutputTensor", tensor(to, sizes)}});
        return d3d12::find_binding("ELEMENT_WISE_QUANTIZE_LINEAR")->plan(quantize).dispatches.at(0).shader.shader;
    };
    core::TensorDesc row = tensor(DataType::float32, {2, 8});
    row.strides = core::Dimensions{0, 1};
    EXPECT_EQ(shader(DataType::float32, DataType::int8, tensor(DataType::float32, {2, 8})), "quantize_bytes");
    EXPECT_EQ(shader(DataType::float32, DataType::uint8, row), "quantize_bytes");
    EXPECT_EQ(shader(DataType::int32, DataType::uint8, row), "element_wise");
    row.strides = core::Dimensions{1, 2};
    EXPECT_EQ(shader(DataType::float32, DataType::uint8, row), "element_wise");
}

/// Rows with the same scales and zero points are computed column by column, including the last columns.
TEST_F(ElementWiseOnD3d12, QuantizesRows) {
    Random random(5);
    for (const core::Dimensions& sizes : {core::Dimensions{1, 2048}, {2, 8}, {7, 1024}, {9, 36}, {4, 1028}}) {
        for (const DataType type : {DataType::uint8, DataType::int8}) {
            const core::Dimensions along{0, 1};
            const core::Dimensions once{0, 0};
            for (const auto& [scale, zero] : {std::pair(along, along), {along, once}, {once, along}}) {
                const Descriptor quantize =
                    describe("ELEMENT_WISE_QUANTIZE_LINEAR", {{"InputTensor", tensor(DataType::float32, sizes)},
                                                              {"ScaleTensor", tensor(DataType::float32, sizes, scale)},
                                                              {"ZeroPointTensor", tensor(type, sizes, zero)},
                                                              {"OutputTensor", tensor(type, sizes)}});
                const auto shader =
                    d3d12::find_binding("ELEMENT_WISE_QUANTIZE_LINEAR")->plan(quantize).dispatches.at(0).shader;
                EXPECT_EQ(shader.key().starts_with("quantize_bytes ALIKE=3"), sizes[0] > 1) << shader.key();
                std::vector<core::Tensor> inputs;
                inputs.push_back(drawn(*quantize.tensor("InputTensor"), [&] { return random.between_reals(-90, 90); }));
                inputs.push_back(drawn(*quantize.tensor("ScaleTensor"), [&] { return random.between_reals(0.25, 2); }));
                inputs.push_back(drawn(*quantize.tensor("ZeroPointTensor"), [&] { return random.between(0, 100); }));
                expect_like_reference(engine(), quantize, inputs);
            }
        }
    }
}

/// One scale per block of an odd size, along two dimensions.
TEST_F(ElementWiseOnD3d12, QuantizesInBlocks) {
    const Descriptor dequantize = describe(
        "DEQUANTIZE", {{"InputTensor", tensor(DataType::int8, {2, 9})},
                       {"QuantizationType", 1},
                       {"QuantizationTensors", operators::TensorDescArray{{tensor(DataType::float32, {2, 3})}}},
                       {"OutputTensor", tensor(DataType::float32, {2, 9})}});
    std::vector<core::Tensor> inputs;
    inputs.push_back(tensor_of<std::int8_t>(tensor(DataType::int8, {2, 9}),
                                            {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7, -8, -9}));
    inputs.push_back(tensor_of<float>(tensor(DataType::float32, {2, 3}), {1, 10, 100, 2, 20, 200}));
    EXPECT_EQ(
        values_of<float>(run_on(engine(), dequantize, inputs)[0]),
        (std::vector<float>{1, 2, 3, 40, 50, 60, 700, 800, 900, -2, -4, -6, -80, -100, -120, -1400, -1600, -1800}));
}

}  // namespace
}  // namespace dmlconform::tests::element_wise_test
