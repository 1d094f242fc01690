// Tests kernels that read FLOAT32 elements directly from memory and use registers of any width: the results must equal
// those of plain definitions, which this file repeats, bit for bit. Bounds are not requested because they are computed
// in another way.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "engine/cpu/kernel.h"
#include "engine/cpu/reduction/reduction.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/operators/rules.h"
#include "engine/operators/rules/reduction.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/with_registers.h"

namespace dmlconform::tests::float_paths_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;
using operators::FieldKind;
using operators::ReduceFunction;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int rounds = 150;

/// The bits of a number; all NaNs are mapped to one.
std::uint32_t bits_of(float x) {
    return std::bit_cast<std::uint32_t>(std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x);
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& numbers) {
    std::vector<std::uint32_t> bits;
    std::ranges::transform(numbers, std::back_inserter(bits), [](float x) { return bits_of(x); });
    return bits;
}

void expect_output(const Descriptor& descriptor, const std::vector<const Tensor*>& inputs,
                   const std::vector<float>& expected) {
    for (const cpu::Registers widest : all_registers) {
        const std::vector<Tensor> outputs = computed(widest, descriptor, inputs);
        ASSERT_EQ(bits_of(values_of<float>(outputs[0])), bits_of(expected))
            << descriptor.schema->name << " of " << core::to_string(inputs[0]->desc) << " to "
            << core::to_string(outputs[0].desc) << " with registers " << static_cast<int>(widest);
    }
}

/// Mostly ordinary numbers.
float any_number(Random& random) {
    constexpr float special[] = {0.0F, -0.0F, infinity, -infinity, 1e-40F, -1e-44F, 3e38F, -3e38F};
    switch (random.pick(0, 40)) {
        case 0:
            return std::numeric_limits<float>::quiet_NaN();
        case 1:
            return special[random.pick<std::size_t>(0, std::size(special) - 1)];
        case 2:
            return random.one_in(2) ? 0.0F : -0.0F;
        default:
            return random.normal();
    }
}

/// Four dimensions, either small with any strides, or longer than any unrolled loop.
core::Dimensions some_sizes(Random& random, int round) {
    return round % 3 == 0 ? random.sizes(4, 3000, 20'000) : random.sizes(4, 9, 1500);
}

// ---- REDUCE ------------------------------------------------------------------------------------------------------

struct Reduced {
    core::TensorDesc input;
    core::TensorDesc output;
    std::vector<bool> reduced;
    std::vector<std::uint32_t> axes;
};

Reduced random_reduction(Random& random, int round) {
    Reduced shape;
    const core::Dimensions sizes = some_sizes(random, round);
    core::Dimensions kept = sizes;
    for (std::uint32_t d = 0; d < sizes.size(); ++d) {
        shape.reduced.push_back(d == 3 ? shape.axes.empty() || random.one_in(2) : random.one_in(2));
        if (shape.reduced[d]) {
            shape.axes.push_back(d);
            kept[d] = 1;
        }
    }
    shape.input = random.layout(DataType::float32, sizes, FieldKind::input);
    shape.output = random.layout(DataType::float32, kept, FieldKind::output);
    return shape;
}

/// The order of terms is the same without converting elements first.
template <template <class> class Total>
void expect_total_of_doubles(const Tensor& input, const Reduced& shape) {
    Tensor output = blank_tensor(shape.output);
    const cpu::reduction::Reduction reduction(input, output, shape.reduced);
    const auto totals = [&]<class Number, class Of>() {
        std::vector<std::uint64_t> all(static_cast<std::size_t>(reduction.sets().count()));
        reduction.for_each_total<Number, Of>(
            [](Number x) { return decltype(Of::value){x}; },
            [&](std::int64_t set, std::int64_t, const Of& total) {
                const double result{total.result()};
                all[static_cast<std::size_t>(set)] = std::bit_cast<std::uint64_t>(
                    std::isnan(result) ? std::numeric_limits<double>::quiet_NaN() : result);
            });
        return all;
    };
    const WithRegisters narrow(cpu::Registers::any);
    const auto expected = totals.template operator()<double, Total<double>>();
    for (const cpu::Registers widest : all_registers) {
        const WithRegisters registers(widest);
        ASSERT_EQ((totals.template operator()<float, typename Total<double>::OfFloats>()), expected)
            << core::to_string(shape.input) << " with registers " << static_cast<int>(widest);
    }
}

TEST(FloatPaths, TotalsAreThoseOfDoubles) {
    Random random(31);
    for (int round = 0; round < rounds; ++round) {
        const Reduced shape = random_reduction(random, round);
        const Tensor input = random.filled<float>(shape.input, [&] { return any_number(random); });
        expect_total_of_doubles<cpu::reduction::Sum>(input, shape);
        expect_total_of_doubles<cpu::reduction::Least>(input, shape);
        expect_total_of_doubles<cpu::reduction::Greatest>(input, shape);
    }
}

/// NaN is ignored. The sign of a zero is not compared because it depends on an order that is unknown here.
TEST(FloatPaths, ExtremesAreElements) {
    Random random(32);
    for (int round = 0; round < rounds; ++round) {
        const Reduced shape = random_reduction(random, round);
        const bool is_max = random.one_in(2);
        const Tensor input = random.filled<float>(shape.input, [&] { return any_number(random); });
        const std::vector<float> elements = values_of<float>(input);
        std::vector<float> expected(count_of(shape.output.sizes), is_max ? -infinity : infinity);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            auto coordinates = coordinates_of(i, shape.input.sizes);
            for (std::size_t d = 0; d < coordinates.size(); ++d) {
                coordinates[d] = shape.reduced[d] ? 0 : coordinates[d];
            }
            float& extreme = expected[index_of(coordinates, shape.output.sizes)];
            if (is_max ? elements[i] > extreme : elements[i] < extreme) {
                extreme = elements[i];
            }
        }
        const Descriptor descriptor =
            with(describe("REDUCE", {{"Function", static_cast<int>(is_max ? ReduceFunction::max : ReduceFunction::min)},
                                     {"InputTensor", shape.input},
                                     {"OutputTensor", shape.output}}),
                 {{"Axes", operators::FieldValue(shape.axes)}});
        for (const cpu::Registers widest : all_registers) {
            ASSERT_EQ(values_of<float>(computed(widest, descriptor, {&input})[0]), expected)
                << core::to_string(shape.input) << " to " << core::to_string(shape.output);
        }
    }
}

struct Summed {
    ReduceFunction function;
    double (*term)(double x);
    double (*finish)(double sum, double count);
};

constexpr Summed sums[] = {
    {ReduceFunction::sum, [](double x) { return x; }, [](double sum, double) { return sum; }},
    {ReduceFunction::average, [](double x) { return x; }, [](double sum, double count) { return sum / count; }},
    {ReduceFunction::l1, [](double x) { return std::fabs(x); }, [](double sum, double) { return sum; }},
    {ReduceFunction::l2, [](double x) { return x * x; }, [](double sum, double) { return std::sqrt(sum); }},
    {ReduceFunction::log_sum, [](double x) { return x; }, [](double sum, double) { return std::log(sum); }},
    {ReduceFunction::sum_square, [](double x) { return x * x; }, [](double sum, double) { return sum; }},
};

/// The summation order for contiguous elements: eight running totals take turns, the remainder is added to the first
/// one, and the totals are added from the first to the last.
float sum_of_row(const Summed& summed, std::span<const float> row) {
    double totals[8]{};
    for (std::size_t i = 0; i < row.size(); ++i) {
        totals[i < row.size() / 8 * 8 ? i % 8 : 0] += summed.term(double{row[i]});
    }
    double sum = totals[0];
    for (std::size_t lane = 1; lane < 8; ++lane) {
        sum += totals[lane];
    }
    return static_cast<float>(summed.finish(sum, static_cast<double>(row.size())));
}

TEST(FloatPaths, SumsOfRowsAreEightSums) {
    Random random(33);
    for (int round = 0; round < rounds; ++round) {
        const Summed& summed = sums[static_cast<std::size_t>(round) % std::size(sums)];
        const std::uint32_t length = random.pick(1u, 1500u);
        const bool special = random.one_in(2);
        const Tensor input = random.filled<float>(tensor(DataType::float32, {3, length}),
                                                  [&] { return special ? any_number(random) : random.normal(); });
        std::vector<float> expected;
        for (std::size_t row = 0; row < 3; ++row) {
            expected.push_back(sum_of_row(summed, input.as<float>().subspan(row * length, length)));
        }
        expect_output(describe("REDUCE", {{"Function", static_cast<int>(summed.function)},
                                          {"InputTensor", input.desc},
                                          {"OutputTensor", tensor(DataType::float32, {3, 1})},
                                          {"Axes", {1}}}),
                      {&input}, expected);
    }
}

// ---- CUMULATIVE_SUMMATION ----------------------------------------------------------------------------------------

TEST(FloatPaths, CumulativeSums) {
    Random random(34);
    for (int round = 0; round < rounds; ++round) {
        const core::Dimensions sizes = some_sizes(random, round);
        const auto axis = random.pick<std::size_t>(0, 3);
        const bool backwards = random.one_in(2);
        const bool exclusive = random.one_in(2);
        const Tensor input = random.filled<float>(random.layout(DataType::float32, sizes, FieldKind::input),
                                                  [&] { return any_number(random); });
        const std::vector<float> elements = values_of<float>(input);
        std::vector<float> expected(elements.size());
        for (std::size_t i = 0; i < elements.size(); ++i) {
            auto coordinates = coordinates_of(i, sizes);
            if (coordinates[axis] != 0) {
                continue;
            }
            double sum = 0;
            for (std::size_t k = 0; k < sizes[axis]; ++k) {
                coordinates[axis] = backwards ? sizes[axis] - 1 - k : k;
                const std::size_t at = index_of(coordinates, sizes);
                const double before = sum;
                sum += double{elements[at]};
                expected[at] = static_cast<float>(exclusive ? before : sum);
            }
        }
        expect_output(describe("CUMULATIVE_SUMMATION",
                               {{"InputTensor", input.desc},
                                {"OutputTensor", random.layout(DataType::float32, sizes, FieldKind::output)},
                                {"Axis", axis},
                                {"AxisDirection", backwards ? 1 : 0},
                                {"HasExclusiveSum", exclusive ? 1 : 0}}),
                      {&input}, expected);
    }
}

// ---- BATCH_NORMALIZATION -----------------------------------------------------------------------------------------

TEST(FloatPaths, BatchNormalization) {
    Random random(35);
    for (int round = 0; round < rounds; ++round) {
        const core::Dimensions sizes = some_sizes(random, round);
        core::Dimensions channels(4, 1);
        channels[1] = sizes[1];
        const auto parameter = [&](float least) {
            return random.filled<float>(random.layout(DataType::float32, channels, FieldKind::input), [&] {
                return random.one_in(4) ? (random.one_in(2) ? 0.0F : -0.0F) : random.uniform(least, 3);
            });
        };
        const Tensor input = random.filled<float>(random.layout(DataType::float32, sizes, FieldKind::input),
                                                  [&] { return any_number(random); });
        const Tensor mean = parameter(-3);
        const Tensor variance = parameter(0);
        const Tensor scale = parameter(-3);
        const Tensor bias = parameter(-3);
        const float epsilon = random.one_in(3) ? 0.0F : 1e-5F;
        const std::vector<float> parameters[] = {values_of<float>(mean), values_of<float>(variance),
                                                 values_of<float>(scale), values_of<float>(bias)};
        std::vector<float> expected = values_of<float>(input);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t channel = coordinates_of(i, sizes)[1];
            const auto at = [&](std::size_t which) { return double{parameters[which][channel]}; };
            const double factor = at(2) / std::sqrt(at(1) + double{epsilon});
            // -0 + 0.0 is 0, so a sum of two negative zeros is stored as a positive zero.
            expected[i] = static_cast<float>((double{expected[i]} - at(0)) * factor + at(3) + 0.0);
        }
        expect_output(describe("BATCH_NORMALIZATION",
                               {{"InputTensor", input.desc},
                                {"MeanTensor", mean.desc},
                                {"VarianceTensor", variance.desc},
                                {"ScaleTensor", scale.desc},
                                {"BiasTensor", bias.desc},
                                {"OutputTensor", random.layout(DataType::float32, sizes, FieldKind::output)},
                                {"Spatial", 1},
                                {"Epsilon", epsilon}}),
                      {&input, &mean, &variance, &scale, &bias}, expected);
    }
}

// ---- DYNAMIC_QUANTIZE_LINEAR -------------------------------------------------------------------------------------

struct Quantised {
    float scale = 0;
    double zero_point = 0;
    std::vector<double> codes;
};

Quantised quantised(const std::vector<float>& numbers, double lowest) {
    // NaN becomes the lowest value.
    const auto clamped = [lowest](double x) { return x > lowest ? std::min(x, lowest + 255) : lowest; };
    double least = 0;
    double greatest = 0;
    for (const float x : numbers) {
        least = double{x} < least ? double{x} : least;
        greatest = double{x} > greatest ? double{x} : greatest;
    }
    Quantised result;
    result.scale = static_cast<float>((greatest - least) / 255);
    const double scale{result.scale};
    result.zero_point = clamped(std::nearbyint(lowest - least / scale));
    for (const float x : numbers) {
        result.codes.push_back(clamped(std::nearbyint(double{x} / scale) + result.zero_point));
    }
    return result;
}

/// Multiples of a scale, ties and their neighbours, which a division in FP32 cannot tell apart.
std::vector<float> around_ties(Random& random, std::size_t count) {
    const float scale = std::ldexp(static_cast<float>(random.pick(1, 0x7fff)), random.pick(-140, 90));
    const int below = random.pick(0, 255);
    std::vector<float> numbers{static_cast<float>(-below) * scale, static_cast<float>(255 - below) * scale};
    while (numbers.size() < count) {
        const float tie = (static_cast<float>(random.pick(-below, 254 - below)) + 0.5F) * scale;
        numbers.push_back(random.one_in(3) ? tie : std::nextafter(tie, random.one_in(2) ? infinity : -infinity));
    }
    return numbers;
}

std::vector<float> some_numbers(Random& random, std::size_t count) {
    if (count > 1 && random.one_in(3)) {
        return around_ties(random, count);
    }
    const int kind = random.pick(0, 3);
    const float magnitude = std::ldexp(1.0F, random.pick(-145, 120));
    std::vector<float> numbers(count);
    for (float& number : numbers) {
        number = kind == 0   ? any_number(random)
                 : kind == 1 ? static_cast<float>(random.pick(-99, 99))
                 : kind == 2 ? random.normal() * magnitude
                             : random.uniform(-1, 1);
    }
    return numbers;
}

template <class Code>
void expect_quantised(Random& random, const Tensor& input, const std::vector<float>& numbers, DataType type) {
    const Quantised expected = quantised(numbers, std::numeric_limits<Code>::lowest());
    const Descriptor descriptor =
        describe("DYNAMIC_QUANTIZE_LINEAR", {{"InputTensor", input.desc},
                                             {"OutputTensor", random.layout(type, input.desc.sizes, FieldKind::output)},
                                             {"OutputScaleTensor", tensor(DataType::float32, {1, 1, 1, 1})},
                                             {"OutputZeroPointTensor", tensor(type, {1, 1, 1, 1})}});
    for (const cpu::Registers widest : all_registers) {
        const std::vector<Tensor> outputs = computed(widest, descriptor, {&input});
        ASSERT_EQ(values_of<float>(outputs[1]), std::vector{expected.scale});
        ASSERT_EQ(static_cast<double>(values_of<Code>(outputs[2])[0]), expected.zero_point);
        const std::vector<Code> codes = values_of<Code>(outputs[0]);
        ASSERT_EQ(std::vector<double>(codes.begin(), codes.end()), expected.codes)
            << core::to_string(input.desc) << " to " << core::to_string(outputs[0].desc) << " with registers "
            << static_cast<int>(widest);
    }
}

TEST(FloatPaths, DynamicQuantizeLinear) {
    Random random(36);
    for (int round = 0; round < 2 * rounds; ++round) {
        const core::Dimensions sizes = some_sizes(random, round);
        const bool is_half = random.one_in(4);
        const DataType type = is_half ? DataType::float16 : DataType::float32;
        // With a stride of 0, several elements share an address, so read the values back from the tensor.
        const core::TensorDesc desc = random.layout(type, sizes, FieldKind::input);
        std::vector<float> numbers = some_numbers(random, count_of(sizes));
        Tensor input;
        if (is_half) {
            std::vector<core::Float16> halves;
            std::ranges::transform(numbers, std::back_inserter(halves),
                                   [](float x) { return core::Float16(double{x}); });
            input = tensor_of(desc, halves);
            std::ranges::transform(values_of<core::Float16>(input), numbers.begin(),
                                   [](core::Float16 x) { return static_cast<float>(static_cast<double>(x)); });
        } else {
            input = tensor_of(desc, numbers);
            numbers = values_of<float>(input);
        }
        if (random.one_in(2)) {
            expect_quantised<std::uint8_t>(random, input, numbers, DataType::uint8);
        } else {
            expect_quantised<std::int8_t>(random, input, numbers, DataType::int8);
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::float_paths_test
