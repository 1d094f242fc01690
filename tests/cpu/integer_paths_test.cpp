// Tests integer kernels with registers of any width: the results must equal those of plain definitions, which this file
// repeats. Bounds are not requested because they are computed in another way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/cpu/kernel.h"
#include "engine/cpu/product/integer_tile.h"
#include "engine/cpu/product/requantise.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/with_registers.h"

namespace dmlconform::tests::integer_paths_test {
namespace {

using core::DataType;
using core::Dimensions;
using core::Tensor;
using operators::Descriptor;
using operators::FieldKind;

// ---- products of pairs -------------------------------------------------------------------------------------------

/// Sums of up to 31 bits, from numbers of 9 bits and a sign.
TEST(IntegerPaths, TilesOfEveryInstructionSet) {
    using cpu::product::integer_tile_columns;
    using cpu::product::integer_tile_rows;
    Random random(71);
    for (const std::int64_t depth :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, std::int64_t{128}, cpu::product::most_pairs_in_a_sum}) {
        const bool extreme = depth == cpu::product::most_pairs_in_a_sum;
        const auto number = [&] { return extreme ? -255 : random.pick(-255, 255); };
        const std::int64_t stride = depth + 5;
        std::vector<std::int32_t> left(static_cast<std::size_t>(2 * stride * integer_tile_rows));
        std::vector<std::int32_t> right(static_cast<std::size_t>(2 * depth * integer_tile_columns + 1));
        std::ranges::generate(left, number);
        std::ranges::generate(right, number);
        const auto pairs_of = [](const std::vector<std::int32_t>& numbers) {
            std::vector<cpu::product::Pair> pairs;
            for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
                pairs.push_back(cpu::product::pair_of(numbers[i], numbers[i + 1]));
            }
            pairs.push_back(0);
            return pairs;
        };
        constexpr std::int64_t sum_stride = integer_tile_columns + 3;
        const std::vector<std::int32_t> before(static_cast<std::size_t>(sum_stride * integer_tile_rows),
                                               extreme ? 0 : 7);
        std::vector<std::int32_t> expected = before;
        for (std::int64_t i = 0; i < integer_tile_rows; ++i) {
            for (std::int64_t j = 0; j < integer_tile_columns; ++j) {
                for (std::int64_t k = 0; k < 2 * depth; ++k) {
                    expected[static_cast<std::size_t>(i * sum_stride + j)] +=
                        left[static_cast<std::size_t>(2 * i * stride + k)] *
                        right[static_cast<std::size_t>(2 * (k / 2 * integer_tile_columns + j) + k % 2)];
                }
            }
        }
        for (const cpu::product::IntegerTile tile : cpu::product::integer_tiles()) {
            std::vector<std::int32_t> sums = before;
            tile(pairs_of(left).data(), stride, pairs_of(right).data(), depth, sums.data(), sum_stride);
            ASSERT_EQ(sums, expected) << depth;
        }
    }
}

// ---- QUANTIZED_LINEAR_CONVOLUTION --------------------------------------------------------------------------------

struct Window {
    std::int64_t elements, taps, positions, stride, dilation, padding;
};

/// Window sizes that fill tiles, blocks and registers, and some that do not.
Window random_window(Random& random, std::int64_t most) {
    Window window{};
    window.taps = random.pick(1, 4);
    window.stride = random.one_in(2) ? 1 : random.pick(1, 3);
    window.dilation = random.one_in(2) ? 1 : random.one_in(4) ? random.pick(1, 90) : random.pick(1, 3);
    window.padding = random.one_in(2) ? 0 : random.pick(1, 5);
    const std::int64_t reach = (window.taps - 1) * window.dilation + 1;
    window.elements = std::max<std::int64_t>(1, reach - 2 * window.padding) + random.pick<std::int64_t>(0, most);
    window.positions = (window.elements + 2 * window.padding - reach) / window.stride + 1;
    return window;
}

struct Quantities {
    std::uint32_t batch, groups, channels, filters;
    Window height, width;
};

Quantities random_quantities(Random& random) {
    Quantities q{};
    q.batch = random.pick(1u, 3u);
    q.groups = random.one_in(2) ? 1 : random.pick(1u, 6u);
    q.channels = random.one_in(3) ? 1 : random.pick(1u, 40u);
    q.filters = random.one_in(3) ? 1 : random.pick(1u, 20u);
    q.height = random_window(random, 12);
    q.width = random_window(random, random.one_in(2) ? 8 : 70);
    return q;
}

std::vector<int> numbers_of(const Tensor& tensor) {
    std::vector<int> numbers;
    if (tensor.desc.data_type == DataType::int8) {
        std::ranges::copy(values_of<std::int8_t>(tensor), std::back_inserter(numbers));
    } else {
        std::ranges::copy(values_of<std::uint8_t>(tensor), std::back_inserter(numbers));
    }
    return numbers;
}

/// The sum for an output element, term by term.
std::int64_t sum_at(const Quantities& q, const std::vector<int>& x, int x_zero, const std::vector<int>& w, int w_zero,
                    std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t o) {
    std::int64_t sum = 0;
    for (std::int64_t c = 0; c < q.channels; ++c) {
        for (std::int64_t r = 0; r < q.height.taps; ++r) {
            for (std::int64_t s = 0; s < q.width.taps; ++s) {
                const std::int64_t y = p * q.height.stride + r * q.height.dilation - q.height.padding;
                const std::int64_t at = o * q.width.stride + s * q.width.dilation - q.width.padding;
                if (y >= 0 && y < q.height.elements && at >= 0 && at < q.width.elements) {
                    const std::int64_t channel = (n * q.groups + k / q.filters) * q.channels + c;
                    sum += (x[static_cast<std::size_t>((channel * q.height.elements + y) * q.width.elements + at)] -
                            x_zero) *
                           (w[static_cast<std::size_t>(((k * q.channels + c) * q.height.taps + r) * q.width.taps + s)] -
                            w_zero);
                }
            }
        }
    }
    return sum;
}

std::uint32_t u32(std::int64_t number) {
    return static_cast<std::uint32_t>(number);
}

void expect_definition(Random& random, const Quantities& q) {
    const auto byte_type = [&] { return random.one_in(2) ? DataType::int8 : DataType::uint8; };
    const DataType x_type = byte_type();
    const DataType w_type = byte_type();
    const DataType y_type = byte_type();
    const std::uint32_t filters = q.groups * q.filters;
    const auto bytes = [&](DataType type, const Dimensions& sizes) {
        return random.filled<std::uint8_t>(random.layout(type, sizes, FieldKind::input),
                                           [&] { return static_cast<std::uint8_t>(random.bits()); });
    };
    const Tensor x = bytes(x_type, {q.batch, q.groups * q.channels, u32(q.height.elements), u32(q.width.elements)});
    const Tensor w = bytes(w_type, {filters, q.channels, u32(q.height.taps), u32(q.width.taps)});
    const Tensor x_zero = bytes(x_type, {1, 1, 1, 1});
    const Tensor w_zeros = bytes(w_type, {1, filters, 1, 1});
    const Tensor y_zero = bytes(y_type, {1, 1, 1, 1});
    const auto scale = [&](float number) {
        return tensor_of<float>(tensor(DataType::float32, {1, 1, 1, 1}), {number});
    };
    const Tensor x_scale = scale(1);
    const Tensor y_scale = scale(random.uniform(50, 500) * std::sqrt(static_cast<float>(q.channels)));
    const Tensor w_scales =
        random.filled<float>(tensor(DataType::float32, {1, filters, 1, 1}), [&] { return random.uniform(0.5F, 1.5F); });
    const Tensor bias = random.filled<std::int32_t>(tensor(DataType::int32, {1, filters, 1, 1}),
                                                    [&] { return random.pick(-5000, 5000); });
    const core::TensorDesc output =
        random.layout(y_type, {q.batch, filters, u32(q.height.positions), u32(q.width.positions)}, FieldKind::output);
    const auto two = [](std::int64_t a, std::int64_t b) { return std::vector<std::uint32_t>{u32(a), u32(b)}; };
    const Descriptor descriptor =
        describe("QUANTIZED_LINEAR_CONVOLUTION", {{"InputTensor", x.desc},
                                                  {"InputScaleTensor", x_scale.desc},
                                                  {"InputZeroPointTensor", x_zero.desc},
                                                  {"FilterTensor", w.desc},
                                                  {"FilterScaleTensor", w_scales.desc},
                                                  {"FilterZeroPointTensor", w_zeros.desc},
                                                  {"BiasTensor", bias.desc},
                                                  {"OutputScaleTensor", y_scale.desc},
                                                  {"OutputZeroPointTensor", y_zero.desc},
                                                  {"OutputTensor", output},
                                                  {"Strides", two(q.height.stride, q.width.stride)},
                                                  {"Dilations", two(q.height.dilation, q.width.dilation)},
                                                  {"StartPadding", two(q.height.padding, q.width.padding)},
                                                  {"EndPadding", two(q.height.padding, q.width.padding)},
                                                  {"GroupCount", q.groups}});
    const std::vector<int> elements = numbers_of(x);
    const std::vector<int> factors = numbers_of(w);
    const std::vector<int> zeros = numbers_of(w_zeros);
    const std::vector<float> scales = values_of<float>(w_scales);
    const std::vector<std::int32_t> biases = values_of<std::int32_t>(bias);
    std::vector<int> expected;
    const int lowest = y_type == DataType::int8 ? -128 : 0;
    for (std::size_t i = 0; i < count_of(output.sizes); ++i) {
        const auto at = coordinates_of(i, output.sizes);
        const std::size_t k = at[1];
        const std::int64_t sum =
            sum_at(q, elements, numbers_of(x_zero)[0], factors, zeros[k], static_cast<std::int64_t>(at[0]),
                   static_cast<std::int64_t>(k), static_cast<std::int64_t>(at[2]), static_cast<std::int64_t>(at[3])) +
            biases[k];
        const double multiplier = double{scales[k]} / double{values_of<float>(y_scale)[0]};
        const double real = std::nearbyint(static_cast<double>(sum) * multiplier) + numbers_of(y_zero)[0];
        expected.push_back(static_cast<int>(std::clamp<double>(real, lowest, lowest + 255)));
    }
    for (const cpu::Registers widest : all_registers) {
        const auto outputs =
            computed(widest, descriptor, {&x, &x_scale, &x_zero, &w, &w_scales, &w_zeros, &bias, &y_scale, &y_zero});
        ASSERT_EQ(numbers_of(outputs[0]), expected)
            << ::testing::PrintToString(to_lines(descriptor)) << " with registers " << static_cast<int>(widest);
    }
}

TEST(IntegerPaths, QuantizedLinearConvolution) {
    Random random(72);
    for (int round = 0; round < 60;) {
        const Quantities q = random_quantities(random);
        const std::int64_t outputs =
            std::int64_t{q.batch} * q.groups * q.filters * q.height.positions * q.width.positions;
        if (outputs < 20'000) {
            expect_definition(random, q);
            ++round;
        }
    }
    // More rows, columns and pairs of terms than a block holds.
    expect_definition(random, {1, 1, 150, 260, {2, 1, 2, 1, 1, 0}, {3, 2, 2, 1, 1, 0}});
    expect_definition(random, {3, 1, 2, 5, {9, 1, 9, 1, 1, 0}, {23, 1, 23, 1, 1, 0}});
    // More terms than a 32-bit sum can hold.
    expect_definition(random, {2, 1, 34000, 1, {1, 1, 1, 1, 1, 0}, {2, 1, 2, 1, 1, 0}});
}

/// 33,124 products of 255 and 255 are 2,153,888,100, which is more than 2^31 and, divided by 2^25, 64.19. In blocks of
/// channels, and by filters that slide.
TEST(IntegerPaths, SumsBeyond31Bits) {
    for (const Dimensions& sizes : {Dimensions{1, 33124, 1, 1}, Dimensions{1, 1, 182, 182}}) {
        const auto bytes = [&sizes] {
            const core::TensorDesc desc = tensor(DataType::uint8, sizes);
            return tensor_of<std::uint8_t>(desc, std::vector<std::uint8_t>(count_of(sizes), 255));
        };
        const auto scale = [](float number) {
            return tensor_of<float>(tensor(DataType::float32, {1, 1, 1, 1}), {number});
        };
        const Tensor x = bytes();
        const Tensor w = bytes();
        const Tensor one = scale(1);
        const Tensor y_scale = scale(0x1p25F);
        const std::vector<std::uint32_t> ones{1, 1};
        const std::vector<std::uint32_t> zeros{0, 0};
        const Descriptor descriptor =
            describe("QUANTIZED_LINEAR_CONVOLUTION", {{"InputTensor", x.desc},
                                                      {"InputScaleTensor", one.desc},
                                                      {"FilterTensor", w.desc},
                                                      {"FilterScaleTensor", one.desc},
                                                      {"OutputScaleTensor", y_scale.desc},
                                                      {"OutputTensor", tensor(DataType::uint8, {1, 1, 1, 1})},
                                                      {"Strides", ones},
                                                      {"Dilations", ones},
                                                      {"StartPadding", zeros},
                                                      {"EndPadding", zeros},
                                                      {"GroupCount", 1}});
        for (const cpu::Registers widest : all_registers) {
            const auto outputs =
                computed(widest, descriptor, {&x, &one, nullptr, &w, &one, nullptr, nullptr, &y_scale, nullptr});
            EXPECT_EQ(numbers_of(outputs[0]), std::vector<int>{64})
                << core::to_string(sizes) << " with registers " << static_cast<int>(widest);
        }
    }
}

TEST(IntegerPaths, RequantisedSegments) {
    Random random(73);
    for (int round = 0; round < 300; ++round) {
        std::vector<double> sums(random.pick<std::size_t>(1, 70));
        const int digits = random.pick(1, 50);
        const double multiplier = round < 4
                                      ? std::vector{0.0, -0.5, std::nan(""), HUGE_VAL}[static_cast<std::size_t>(round)]
                                  : random.one_in(2) ? std::ldexp(1.0, random.pick(-50, 0))
                                                     : double{random.uniform(0, 1)};
        for (double& sum : sums) {
            sum = std::floor(std::ldexp(double{random.uniform(-1, 1)}, digits));
        }
        const double bias = random.pick(-1000, 1000);
        const auto check = [&]<class Output>(Output) {
            constexpr int low = std::numeric_limits<Output>::min();
            constexpr int high = std::numeric_limits<Output>::max();
            const std::int32_t zero_point = random.pick(low, high);
            std::vector<Output> expected;
            for (const double sum : sums) {
                expected.push_back(static_cast<Output>(
                    cpu::requantise(static_cast<std::int64_t>(sum + bias), multiplier, zero_point, low, high).value));
            }
            for (const cpu::Registers widest : all_registers) {
                const WithRegisters registers(widest);
                std::vector<Output> elements(sums.size());
                cpu::requantise(std::span<const double>(sums), bias, multiplier, zero_point, elements.data());
                ASSERT_EQ(elements, expected) << multiplier;
            }
        };
        check(std::int8_t());
        check(std::uint8_t());
    }
}

// ---- the other first operators -----------------------------------------------------------------------------------

/// Covers small K, and K large enough for the radix sort.
template <class T>
void expect_first_of_sorted(Random& random, DataType type) {
    for (int round = 0; round < 6; ++round) {
        const bool decreasing = random.one_in(2);
        const std::uint32_t length = random.pick(200u, 2000u);
        const std::uint32_t k = random.one_in(2) ? random.pick(1u, 60u) : random.pick(1u, length);
        const std::uint32_t axis = random.pick(1u, 2u);
        const std::uint32_t other = random.pick(1u, 18u);
        const auto sizes = [&](std::uint32_t along) {
            return axis == 1 ? Dimensions{2, along, other} : Dimensions{2, other, along};
        };
        const bool ties = random.one_in(2);
        const Tensor input = random.filled<T>(random.layout(type, sizes(length), FieldKind::input), [&] {
            return static_cast<T>(ties ? static_cast<std::int64_t>(random.pick(0, 9))
                                       : static_cast<std::int64_t>(random.bits()));
        });
        const Descriptor descriptor = describe("TOP_K1", {{"InputTensor", input.desc},
                                                          {"OutputValueTensor", tensor(type, sizes(k))},
                                                          {"OutputIndexTensor", tensor(DataType::uint32, sizes(k))},
                                                          {"Axis", axis},
                                                          {"K", k},
                                                          {"AxisDirection", decreasing ? 1 : 0}});
        const std::vector<T> elements = values_of<T>(input);
        std::vector<T> values(count_of(sizes(k)));
        std::vector<std::uint32_t> indices(values.size());
        for (std::size_t sequence = 0; sequence < 2 * std::size_t{other}; ++sequence) {
            const auto at = [&](std::size_t position, std::uint32_t along) {
                const std::size_t here = sequence % other;
                return index_of(axis == 1 ? std::vector<std::size_t>{sequence / other, position, here}
                                          : std::vector<std::size_t>{sequence / other, here, position},
                                sizes(along));
            };
            std::vector<std::uint32_t> order(length);
            std::iota(order.begin(), order.end(), 0u);
            std::vector<T> line;
            for (std::size_t position = 0; position < length; ++position) {
                line.push_back(elements[at(position, length)]);
            }
            std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
                return decreasing ? line[b] < line[a] : line[a] < line[b];
            });
            for (std::size_t position = 0; position < k; ++position) {
                values[at(position, k)] = line[order[position]];
                indices[at(position, k)] = order[position];
            }
        }
        for (const cpu::Registers widest : all_registers) {
            const auto outputs = computed(widest, descriptor, {&input});
            ASSERT_EQ(values_of<T>(outputs[0]), values) << ::testing::PrintToString(to_lines(descriptor));
            ASSERT_EQ(values_of<std::uint32_t>(outputs[1]), indices) << ::testing::PrintToString(to_lines(descriptor));
        }
    }
}

TEST(IntegerPaths, TopK) {
    Random random(74);
    expect_first_of_sorted<float>(random, DataType::float32);
    expect_first_of_sorted<std::int64_t>(random, DataType::int64);
    expect_first_of_sorted<std::uint64_t>(random, DataType::uint64);
    expect_first_of_sorted<std::int32_t>(random, DataType::int32);
    expect_first_of_sorted<std::uint16_t>(random, DataType::uint16);
    expect_first_of_sorted<std::int8_t>(random, DataType::int8);
}

TEST(IntegerPaths, SlicesOfEveryLength) {
    Random random(75);
    for (int round = 0; round < 100; ++round) {
        const std::uint32_t length = random.one_in(2) ? random.pick(60u, 200u) : random.pick(1u, 5000u);
        const std::uint32_t offset = random.pick(0u, 70u);
        const Tensor input = random.filled<std::uint8_t>(tensor(DataType::uint8, {3, length + offset}),
                                                         [&] { return static_cast<std::uint8_t>(random.bits()); });
        const Descriptor descriptor = describe("SLICE1", {{"InputTensor", input.desc},
                                                          {"OutputTensor", tensor(DataType::uint8, {3, length})},
                                                          {"InputWindowOffsets", std::vector<std::uint32_t>{0, offset}},
                                                          {"InputWindowSizes", std::vector<std::uint32_t>{3, length}},
                                                          {"InputWindowStrides", std::vector<std::int32_t>{1, 1}}});
        const auto elements = values_of<std::uint8_t>(input);
        std::vector<std::uint8_t> expected;
        for (std::size_t row = 0; row < 3; ++row) {
            const auto from = elements.begin() + static_cast<std::ptrdiff_t>(row * (length + offset) + offset);
            expected.insert(expected.end(), from, from + length);
        }
        for (const cpu::Registers widest : all_registers) {
            ASSERT_EQ(values_of<std::uint8_t>(computed(widest, descriptor, {&input})[0]), expected) << length;
        }
    }
}

/// If bounds are requested, numbers are converted to double first and normalised one at a time.
TEST(IntegerPaths, NormalizedFloats) {
    Random random(76);
    for (int round = 0; round < 150; ++round) {
        const Dimensions sizes{random.pick(1u, 4u), random.pick(1u, 5u), random.pick(1u, 9u),
                               random.one_in(2) ? 32 * random.pick(1u, 3u) : random.pick(1u, 90u)};
        std::vector<std::uint32_t> axes;
        for (std::uint32_t axis = 0; axis < 4; ++axis) {
            if (random.one_in(2)) {
                axes.push_back(axis);
            }
        }
        if (axes.empty()) {
            axes.push_back(3);
        }
        const auto parameter = [&] {
            Dimensions own = sizes;
            for (std::uint32_t& size : own) {
                size = random.one_in(2) ? 1 : size;
            }
            return random.filled<float>(tensor(DataType::float32, own), [&] { return random.normal(); });
        };
        const Tensor input = random.filled<float>(random.layout(DataType::float32, sizes, FieldKind::input),
                                                  [&] { return random.normal() * 3 + 1; });
        const Tensor scale = parameter();
        const Tensor bias = parameter();
        const Descriptor descriptor =
            describe("MEAN_VARIANCE_NORMALIZATION1",
                     {{"InputTensor", input.desc},
                      {"ScaleTensor", scale.desc},
                      {"BiasTensor", bias.desc},
                      {"OutputTensor", random.layout(DataType::float32, sizes, FieldKind::output)},
                      {"Axes", axes},
                      {"NormalizeVariance", random.one_in(4) ? 0 : 1},
                      {"Epsilon", 1e-5}});
        const std::vector<const Tensor*> inputs{&input, &scale, &bias};
        const auto expected = values_of<float>(cpu::compute_reference(descriptor, inputs).outputs[0]);
        for (const cpu::Registers widest : all_registers) {
            ASSERT_EQ(values_of<float>(computed(widest, descriptor, inputs)[0]), expected)
                << ::testing::PrintToString(to_lines(descriptor)) << " with registers " << static_cast<int>(widest);
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::integer_paths_test
