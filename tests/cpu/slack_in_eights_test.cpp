// Tests slack that is computed for eight elements at a time: it equals that of single elements, bit for bit. On
// processors without such registers, there is nothing to compare.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/cpu/reduction/totals.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/with_registers.h"

namespace dmlconform::tests::slack_in_eights_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;
using operators::FieldKind;

constexpr int rounds = 100;

/// Ordinary numbers, and every kind of number at which an operation on intervals has a special case.
float any_number(Random& random, int one_special_in) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float largest = std::numeric_limits<float>::max();
    constexpr float special[] = {infinity,
                                 -infinity,
                                 largest,
                                 -largest,
                                 3e38F,
                                 -2e38F,
                                 1e-40F,
                                 -1e-44F,
                                 1.2e-38F,
                                 -1.2e-38F,
                                 1e-30F,
                                 -1e-25F,
                                 std::numeric_limits<float>::quiet_NaN()};
    if (random.one_in(one_special_in)) {
        return special[random.pick<std::size_t>(0, std::size(special) - 1)];
    }
    return random.one_in(10) ? (random.one_in(2) ? 0.0F : -0.0F) : std::ldexp(random.normal(), random.pick(-20, 20));
}

void expect_same(const std::vector<double>& actual, const std::vector<double>& expected, const char* what) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(actual[i]), std::bit_cast<std::uint64_t>(expected[i]))
            << what << " of element " << i << ": " << actual[i] << " instead of " << expected[i];
    }
}

/// The reference with its slack, with registers of this width at most.
cpu::Reference reference_with(cpu::Registers widest, const Descriptor& descriptor,
                              const std::vector<const Tensor*>& inputs, cpu::Accumulation accumulation) {
    const WithRegisters registers(widest);
    return cpu::compute_reference(descriptor, inputs, accumulation);
}

void expect_same_slack(const Descriptor& descriptor, const std::vector<const Tensor*>& inputs,
                       cpu::Accumulation accumulation = cpu::Accumulation::fp32) {
    SCOPED_TRACE(descriptor.schema->name + " of " + core::to_string(inputs[0]->desc));
    const cpu::Reference in_eights = reference_with(cpu::Registers::avx512, descriptor, inputs, accumulation);
    const cpu::Reference one_by_one = reference_with(cpu::Registers::any, descriptor, inputs, accumulation);
    expect_same(in_eights.slack[0].below, one_by_one.slack[0].below, "below");
    expect_same(in_eights.slack[0].above, one_by_one.slack[0].above, "above");
    expect_same(in_eights.slack[0].sigma, one_by_one.slack[0].sigma, "sigma");
    EXPECT_EQ(in_eights.slack[0].nan, one_by_one.slack[0].nan);
    EXPECT_EQ(in_eights.slack[0].finite, one_by_one.slack[0].finite);
}

/// From mostly special numbers to none at all.
int one_special_in(int round) {
    return round % 3 == 0 ? 5 : round % 3 == 1 ? 300 : 1'000'000'000;
}

core::Dimensions some_sizes(Random& random, int round) {
    return round % 3 == 0 ? random.sizes(4, 3000, 20'000) : random.sizes(4, 9, 1500);
}

TEST(SlackInEights, ElementWise) {
    Random random(1);
    for (int round = 0; round < rounds; ++round) {
        const core::Dimensions sizes = some_sizes(random, round);
        const auto any_tensor = [&] {
            return random.filled<float>(random.layout(DataType::float32, sizes, FieldKind::input),
                                        [&] { return any_number(random, one_special_in(round)); });
        };
        const Tensor a = any_tensor();
        const Tensor b = any_tensor();
        const core::TensorDesc output = random.layout(DataType::float32, sizes, FieldKind::output);
        for (const char* name : {"ELEMENT_WISE_ADD", "ELEMENT_WISE_SUBTRACT", "ELEMENT_WISE_MULTIPLY"}) {
            expect_same_slack(describe(name, {{"ATensor", a.desc}, {"BTensor", b.desc}, {"OutputTensor", output}}),
                              {&a, &b});
        }
        expect_same_slack(describe("ACTIVATION_RELU", {{"InputTensor", a.desc}, {"OutputTensor", output}}), {&a});
    }
}

/// Halves do not have the slack of FP32 numbers.
TEST(SlackInEights, Halves) {
    Random random(5);
    const auto halves = [&random](const core::Dimensions& sizes, float least) {
        return random.filled<core::Float16>(tensor(DataType::float16, sizes),
                                            [&] { return core::Float16(random.uniform(least, 9)); });
    };
    for (int round = 0; round < rounds; ++round) {
        const core::Dimensions sizes{2, 3, 8, random.pick<std::uint32_t>(1, 40)};
        const Tensor a = halves(sizes, -9);
        const Tensor b = halves(sizes, -9);
        const core::TensorDesc output = tensor(DataType::float16, sizes);
        expect_same_slack(
            describe("ELEMENT_WISE_MULTIPLY", {{"ATensor", a.desc}, {"BTensor", b.desc}, {"OutputTensor", output}}),
            {&a, &b});
        const core::Dimensions channels{1, 3, 1, 1};
        const Tensor mean = halves(channels, -9);
        const Tensor variance = halves(channels, 0);
        const Tensor scale = halves(channels, -9);
        const Tensor bias = halves(channels, -9);
        expect_same_slack(describe("BATCH_NORMALIZATION", {{"InputTensor", a.desc},
                                                           {"MeanTensor", mean.desc},
                                                           {"VarianceTensor", variance.desc},
                                                           {"ScaleTensor", scale.desc},
                                                           {"BiasTensor", bias.desc},
                                                           {"OutputTensor", output},
                                                           {"Spatial", 1},
                                                           {"Epsilon", 0.1F}}),
                          {&a, &mean, &variance, &scale, &bias});
    }
}

TEST(SlackInEights, BatchNormalization) {
    Random random(2);
    for (int round = 0; round < rounds; ++round) {
        const core::Dimensions sizes = some_sizes(random, round);
        core::Dimensions channels(4, 1);
        channels[1] = sizes[1];
        const auto parameter = [&](float least) {
            return random.filled<float>(random.layout(DataType::float32, channels, FieldKind::input), [&] {
                return random.one_in(one_special_in(round)) ? any_number(random, 1)
                       : random.one_in(6)                   ? (random.one_in(2) ? 0.0F : 1.0F)
                                                            : random.uniform(least, 3);
            });
        };
        const Tensor input = random.filled<float>(random.layout(DataType::float32, sizes, FieldKind::input),
                                                  [&] { return any_number(random, one_special_in(round)); });
        const Tensor mean = parameter(-3);
        const Tensor variance = parameter(0);
        const Tensor scale = parameter(-3);
        const Tensor bias = parameter(-3);
        expect_same_slack(describe("BATCH_NORMALIZATION",
                                   {{"InputTensor", input.desc},
                                    {"MeanTensor", mean.desc},
                                    {"VarianceTensor", variance.desc},
                                    {"ScaleTensor", scale.desc},
                                    {"BiasTensor", bias.desc},
                                    {"OutputTensor", random.layout(DataType::float32, sizes, FieldKind::output)},
                                    {"Spatial", 1},
                                    {"Epsilon", random.one_in(3) ? 0.0F : 1e-5F}}),
                          {&input, &mean, &variance, &scale, &bias});
    }
}

/// Scale and bias may be one for all elements of a group, or each element's own.
TEST(SlackInEights, MeanVarianceNormalization) {
    Random random(6);
    for (int round = 0; round < rounds; ++round) {
        const core::Dimensions sizes = some_sizes(random, round);
        std::vector<std::uint32_t> axes;
        for (std::uint32_t d = 0; d < sizes.size(); ++d) {
            if (d + 1 == sizes.size() || random.one_in(2)) {
                axes.push_back(d);
            }
        }
        const auto parameter = [&] {
            core::Dimensions own = sizes;
            for (std::uint32_t& size : own) {
                size = random.one_in(2) ? 1 : size;
            }
            return random.filled<float>(random.layout(DataType::float32, own, FieldKind::input), [&] {
                return random.one_in(one_special_in(round)) ? any_number(random, 1)
                       : random.one_in(6)                   ? (random.one_in(2) ? 0.0F : 1.0F)
                                                            : random.uniform(-3, 3);
            });
        };
        const Tensor input = random.filled<float>(random.layout(DataType::float32, sizes, FieldKind::input),
                                                  [&] { return any_number(random, one_special_in(round)); });
        const Tensor scale = parameter();
        const Tensor bias = parameter();
        const bool has_bias = !random.one_in(4);
        expect_same_slack(describe("MEAN_VARIANCE_NORMALIZATION1",
                                   {{"InputTensor", input.desc},
                                    {"ScaleTensor", scale.desc},
                                    has_bias ? Setting("BiasTensor", bias.desc) : Setting("BiasTensor", nullptr),
                                    {"OutputTensor", random.layout(DataType::float32, sizes, FieldKind::output)},
                                    {"Axes", axes},
                                    {"NormalizeVariance", random.one_in(4) ? 0 : 1},
                                    {"Epsilon", random.one_in(3) ? 0.0F : 1e-5F}}),
                          {&input, &scale, has_bias ? &bias : nullptr});
    }
}

TEST(SlackInEights, Convolution) {
    Random random(4);
    for (int round = 0; round < rounds; ++round) {
        const auto channels = random.pick<std::uint32_t>(1, 6);
        const auto outputs = random.pick<std::uint32_t>(1, 9);
        const auto size = random.pick<std::uint32_t>(3, 14);
        const std::uint32_t taps = random.one_in(2) ? 1 : 3;
        // Small whole numbers have sums that are exact.
        const bool are_whole = random.one_in(4);
        const auto any_tensor = [&](const core::Dimensions& sizes) {
            return random.filled<float>(tensor(DataType::float32, sizes), [&] {
                return are_whole ? static_cast<float>(random.pick(-9, 9)) : any_number(random, one_special_in(round));
            });
        };
        const Tensor input = any_tensor({2, channels, size, size});
        const Tensor filter = any_tensor({outputs, channels, taps, taps});
        // Biases may be special although all products are ordinary.
        const Tensor bias =
            random.filled<float>(tensor(DataType::float32, {1, outputs, 1, 1}), [&] { return any_number(random, 3); });
        const std::uint32_t padding = taps / 2;
        std::vector<const Tensor*> inputs{&input, &filter, &bias};
        const operators::Descriptor descriptor =
            with(plain_convolution(input.desc, filter.desc, tensor(DataType::float32, {2, outputs, size, size})),
                 {{"BiasTensor", bias.desc}, {"StartPadding", {padding, padding}}, {"EndPadding", {padding, padding}}});
        expect_same_slack(descriptor, inputs);
        expect_same_slack(descriptor, inputs, cpu::Accumulation::float16);
    }
}

/// Alpha scales sums.
TEST(SlackInEights, Gemm) {
    Random random(6);
    for (int round = 0; round < rounds; ++round) {
        const auto rows = random.pick<std::uint32_t>(1, 9);
        const auto depth = random.pick<std::uint32_t>(1, 40);
        const auto columns = random.pick<std::uint32_t>(8, 40);
        const auto any_tensor = [&](std::uint32_t height, std::uint32_t width) {
            return random.filled<float>(tensor(DataType::float32, {height, width}),
                                        [&] { return any_number(random, one_special_in(round)); });
        };
        const Tensor a = any_tensor(rows, depth);
        const Tensor b = any_tensor(depth, columns);
        expect_same_slack(describe("GEMM", {{"ATensor", a.desc},
                                            {"BTensor", b.desc},
                                            {"OutputTensor", tensor(DataType::float32, {rows, columns})},
                                            {"TransA", 0},
                                            {"TransB", 0},
                                            {"Alpha", round % 2 == 0 ? 1.0F : 0.7F},
                                            {"Beta", 1.0F}}),
                          {&a, &b, nullptr});
    }
}

/// Packed factors are read in place as FP32 numbers. Others are converted to doubles first, which changes nothing.
TEST(SlackInEights, GemmOfFactorsInPlace) {
    Random random(7);
    for (int round = 0; round < rounds; ++round) {
        const auto rows = random.pick<std::uint32_t>(2, 9);
        const auto depth = random.pick<std::uint32_t>(1, 40);
        const auto columns = random.pick<std::uint32_t>(2, 40);
        const bool are_whole = random.one_in(3);
        const auto any_tensor = [&](std::uint32_t height, std::uint32_t width) {
            return random.filled<float>(tensor(DataType::float32, {height, width}), [&] {
                return are_whole ? static_cast<float>(random.pick(-9, 9)) : any_number(random, one_special_in(round));
            });
        };
        const auto with_gaps = [](const Tensor& packed) {
            const std::uint32_t width = packed.desc.sizes[1];
            Tensor result(tensor(DataType::float32, packed.desc.sizes, {width + 1, 1}));
            for (std::uint32_t i = 0; i < packed.desc.sizes[0] * width; ++i) {
                result.as<float>()[i + i / width] = packed.as<float>()[i];
            }
            return result;
        };
        const auto reference_of = [&](const Tensor& a, const Tensor& b) {
            const auto product = describe("GEMM", {{"ATensor", a.desc},
                                                   {"BTensor", b.desc},
                                                   {"OutputTensor", tensor(DataType::float32, {rows, columns})},
                                                   {"TransA", 0},
                                                   {"TransB", 0},
                                                   {"Alpha", 1.0F},
                                                   {"Beta", 1.0F}});
            return cpu::compute_reference(product, std::vector<const Tensor*>{&a, &b, nullptr});
        };
        const Tensor a = any_tensor(rows, depth);
        const Tensor b = any_tensor(depth, columns);
        const cpu::Reference in_place = reference_of(a, b);
        const cpu::Reference converted = reference_of(with_gaps(a), with_gaps(b));
        expect_same(in_place.slack[0].below, converted.slack[0].below, "below");
        expect_same(in_place.slack[0].above, converted.slack[0].above, "above");
        expect_same(in_place.slack[0].sigma, converted.slack[0].sigma, "sigma");
    }
}

/// As the C library takes numbers apart.
TEST(Digits, AreThoseOfTheCLibrary) {
    Random random(5);
    for (int round = 0; round < 100'000; ++round) {
        const std::uint64_t bits = random.bits() << 32U | random.bits();
        const double number = std::bit_cast<double>(bits >> random.pick(0, 60) << random.pick(0, 11));
        if (number == 0 || !std::isfinite(number)) {
            continue;
        }
        int exponent = 0;
        const double mantissa = std::frexp(std::fabs(number), &exponent);
        const int zeros = std::countr_zero(static_cast<std::uint64_t>(std::ldexp(mantissa, 53)));
        const auto digits = cpu::reduction::digits_of(number);
        ASSERT_EQ(digits.exponent, exponent - 53 + zeros) << number;
        ASSERT_EQ(digits.count, 53 - zeros) << number;
    }
}

}  // namespace
}  // namespace dmlconform::tests::slack_in_eights_test
