// Tests of the kernels of TOP_K1: the documentation's examples, ties, NaN, and random tensors against counting the
// elements before each one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::top_k1_test {
namespace {

using core::DataType;
using core::Dimensions;
using operators::Descriptor;
using operators::FieldKind;

constexpr std::uint32_t increasing = 0;
constexpr std::uint32_t decreasing = 1;

Descriptor top_k(const core::TensorDesc& input, std::uint32_t axis, std::uint32_t k, std::uint32_t direction,
                 DataType index_type = DataType::uint32) {
    Dimensions sizes = input.sizes;
    sizes[axis] = k;
    return describe("TOP_K1", {{"InputTensor", input},
                               {"OutputValueTensor", tensor(input.data_type, sizes)},
                               {"OutputIndexTensor", tensor(index_type, sizes)},
                               {"Axis", axis},
                               {"K", k},
                               {"AxisDirection", direction}});
}

template <class T>
struct Selection {
    std::vector<T> values;
    std::vector<std::uint64_t> indices;

    bool operator==(const Selection&) const = default;
};

template <class T>
Selection<T> selected(const Descriptor& descriptor, const core::Tensor& input) {
    const std::vector<const core::Tensor*> inputs{&input};
    const auto reference = cpu::compute_reference(descriptor, inputs);
    Selection<T> result;
    result.values = values_of<T>(reference.outputs.at(0));
    if (reference.outputs.at(1).desc.data_type == DataType::uint64) {
        result.indices = values_of<std::uint64_t>(reference.outputs.at(1));
    } else {
        const auto narrow = values_of<std::uint32_t>(reference.outputs.at(1));
        result.indices.assign(narrow.begin(), narrow.end());
    }
    return result;
}

using Indices = std::vector<std::uint64_t>;

TEST(TopK1, Documentation) {
    const auto first =
        tensor_of<float>(tensor(DataType::float32, {1, 1, 3, 4}), {0, 1, 10, 11, 3, 2, 9, 8, 4, 5, 6, 7});
    const auto along3 = selected<float>(top_k(first.desc, 3, 2, decreasing), first);
    EXPECT_EQ(along3.values, (std::vector<float>{11, 10, 9, 8, 7, 6}));
    EXPECT_EQ(along3.indices, (Indices{3, 2, 2, 3, 3, 2}));
    const auto along2 = selected<float>(top_k(first.desc, 2, 2, decreasing), first);
    EXPECT_EQ(along2.values, (std::vector<float>{4, 5, 10, 11, 3, 2, 9, 8}));
    EXPECT_EQ(along2.indices, (Indices{2, 2, 0, 0, 1, 1, 1, 1}));

    const auto ties = tensor_of<float>(tensor(DataType::float32, {1, 1, 3, 4}), {1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 6, 6});
    const auto down = selected<float>(top_k(ties.desc, 3, 3, decreasing), ties);
    EXPECT_EQ(down.values, (std::vector<float>{3, 2, 2, 5, 5, 4, 6, 6, 6}));
    EXPECT_EQ(down.indices, (Indices{3, 1, 2, 2, 3, 1, 0, 1, 2}));
    const auto up = selected<float>(top_k(ties.desc, 3, 3, increasing), ties);
    EXPECT_EQ(up.values, (std::vector<float>{1, 2, 2, 3, 4, 5, 6, 6, 6}));
    EXPECT_EQ(up.indices, (Indices{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

/// Checks the sorted order of a sequence that is given as bits.
template <class T>
void expect_order(DataType type, const std::vector<T>& bits, std::uint32_t direction, const Indices& order) {
    const auto count = static_cast<std::uint32_t>(bits.size());
    const auto input = tensor_of(tensor(type, {count}), bits);
    std::vector<T> sorted;
    for (const std::uint64_t index : order) {
        sorted.push_back(bits[index]);
    }
    // Tests every K, because selection and sorting are separate steps.
    for (std::uint32_t k = 1; k <= count; ++k) {
        const auto result = selected<T>(top_k(input.desc, 0, k, direction), input);
        EXPECT_EQ(result.values, std::vector<T>(sorted.begin(), sorted.begin() + k)) << name(type) << ", K " << k;
        EXPECT_EQ(result.indices, Indices(order.begin(), order.begin() + k)) << name(type) << ", K " << k;
    }
}

TEST(TopK1, ZerosTieAndKeepTheirSigns) {
    // -0, +0, -1, +0, -0, 1
    const std::vector<std::uint32_t> singles{0x80000000, 0, 0xbf800000, 0, 0x80000000, 0x3f800000};
    expect_order(DataType::float32, singles, decreasing, {5, 0, 1, 3, 4, 2});
    expect_order(DataType::float32, singles, increasing, {2, 0, 1, 3, 4, 5});
    const std::vector<std::uint16_t> halves{0x8000, 0, 0xbc00, 0, 0x8000, 0x3c00};
    expect_order(DataType::float16, halves, decreasing, {5, 0, 1, 3, 4, 2});
    expect_order(DataType::float16, halves, increasing, {2, 0, 1, 3, 4, 5});
}

TEST(TopK1, NanComesLastInBothDirections) {
    // NaN, 1, -inf, negative NaN with a payload, inf, signalling NaN, -1
    const std::vector<std::uint32_t> singles{0x7fc00000, 0x3f800000, 0xff800000, 0xffc54321,
                                             0x7f800000, 0x7f800001, 0xbf800000};
    expect_order(DataType::float32, singles, decreasing, {4, 1, 6, 2, 0, 3, 5});
    expect_order(DataType::float32, singles, increasing, {2, 6, 1, 4, 0, 3, 5});
    const std::vector<std::uint16_t> halves{0x7e00, 0x3c00, 0xfc00, 0xfe55, 0x7c00, 0x7c01, 0xbc00};
    expect_order(DataType::float16, halves, decreasing, {4, 1, 6, 2, 0, 3, 5});
    expect_order(DataType::float16, halves, increasing, {2, 6, 1, 4, 0, 3, 5});
}

TEST(TopK1, SubnormalsAreOrdered) {
    // 0, the smallest number, its negative, the second smallest
    expect_order(DataType::float32, std::vector<std::uint32_t>{0, 1, 0x80000001, 2}, decreasing, {3, 1, 0, 2});
    expect_order(DataType::float16, std::vector<std::uint16_t>{0, 1, 0x8001, 2}, increasing, {2, 0, 1, 3});
}

TEST(TopK1, IntegersAtTheirLimits) {
    expect_order(DataType::int8, std::vector<std::int8_t>{-128, 127, -1, 0}, decreasing, {1, 3, 2, 0});
    expect_order(DataType::uint8, std::vector<std::uint8_t>{128, 127, 255, 0}, decreasing, {2, 0, 1, 3});
    expect_order(DataType::int16, std::vector<std::int16_t>{-32768, 32767, -1, 0}, increasing, {0, 2, 3, 1});
    expect_order(DataType::uint16, std::vector<std::uint16_t>{32768, 32767, 65535, 0}, increasing, {3, 1, 0, 2});
    // Differences that FP32 loses, and for 64 bits also double.
    expect_order(DataType::int32, std::vector<std::int32_t>{INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1},
                 decreasing, {2, 3, 1, 0});
    expect_order(DataType::uint32, std::vector<std::uint32_t>{0x80000000, 0x7fffffff, UINT32_MAX, UINT32_MAX - 1},
                 decreasing, {2, 3, 0, 1});
    expect_order(DataType::int64, std::vector<std::int64_t>{INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1},
                 decreasing, {2, 3, 1, 0});
    expect_order(DataType::uint64, std::vector<std::uint64_t>{UINT64_MAX - 1, UINT64_MAX, 0, INT64_MAX}, increasing,
                 {2, 3, 0, 1});
}

/// The number by which an element is sorted; independent of the kernel's code. NaN is treated separately.
template <class T>
double number_of(T value) {
    return static_cast<double>(value);
}

template <class T>
bool is_number(T value) {
    return !std::isnan(number_of(value));
}

template <class T>
bool exceeds(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return a > b;  // exact for 64 bits
    } else {
        return number_of(a) > number_of(b);
    }
}

/// Whether element i of a sequence comes before element j.
template <class T>
bool precedes(const std::vector<T>& sequence, std::size_t i, std::size_t j, std::uint32_t direction) {
    const T a = sequence[i];
    const T b = sequence[j];
    if (!is_number(a) || !is_number(b)) {
        return is_number(a) || (!is_number(b) && i < j);
    }
    const bool larger = exceeds(a, b);
    const bool smaller = exceeds(b, a);
    return larger ? direction == decreasing : smaller ? direction == increasing : i < j;
}

template <class T>
std::uint64_t bits_of_element(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

/// An element's position in the output is the number of elements before it.
template <class T>
Selection<std::uint64_t> by_definition(const Descriptor& descriptor, const core::Tensor& input) {
    const auto axis = descriptor.uint("Axis");
    const auto k = descriptor.uint("K");
    const auto direction = descriptor.uint("AxisDirection");
    const Dimensions& from = input.desc.sizes;
    const Dimensions& to = descriptor.sizes("OutputValueTensor");
    const auto all = values_of<T>(input);
    Selection<std::uint64_t> result{std::vector<std::uint64_t>(count_of(to)), Indices(count_of(to))};
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto coordinates = coordinates_of(i, from);
        const std::size_t position_in_sequence = coordinates[axis];
        std::vector<T> sequence;
        for (coordinates[axis] = 0; coordinates[axis] < from[axis]; ++coordinates[axis]) {
            sequence.push_back(all[index_of(coordinates, from)]);
        }
        std::size_t rank = 0;
        for (std::size_t other = 0; other < sequence.size(); ++other) {
            rank += other != position_in_sequence && precedes(sequence, other, position_in_sequence, direction) ? 1 : 0;
        }
        if (rank < k) {
            coordinates[axis] = rank;
            result.values[index_of(coordinates, to)] = bits_of_element(all[i]);
            result.indices[index_of(coordinates, to)] = position_in_sequence;
        }
    }
    return result;
}

/// Draws from a few values, so that ties are common, or arbitrary bits.
template <class T>
T element(Random& random, bool few) {
    const auto value = static_cast<std::uint64_t>(few ? random.pick(-3, 3) : static_cast<std::int64_t>(random.bits()));
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(value);
    } else if (few) {
        return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(value)) * 0.5);
    } else if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(value));
    } else {
        return core::Float16::from_bits(static_cast<std::uint16_t>(value));
    }
}

template <class T>
void check_random(DataType type) {
    Random random(51 + static_cast<unsigned>(type));
    for (int i = 0; i < 100; ++i) {
        auto sizes = random.sizes(random.pick<std::size_t>(1, 8), 20, 400);
        auto axis = random.pick(0u, static_cast<std::uint32_t>(sizes.size()) - 1);
        // Selecting a few elements of a long sequence uses a different algorithm.
        const bool is_long = random.one_in(4);
        if (is_long) {
            axis = random.pick(0u, 1u);
            sizes.assign(2, random.pick(1u, 2u));
            sizes[axis] = random.pick(250u, 300u);
        }
        const auto index_type = random.one_in(2) ? DataType::uint32 : DataType::uint64;
        const auto input_desc = random.layout(type, sizes, FieldKind::input);
        const std::uint32_t most = is_long && random.one_in(2) ? 40 : sizes[axis];
        Descriptor descriptor = top_k(input_desc, axis, random.pick(1u, most), random.pick(0u, 1u), index_type);
        const Dimensions output_sizes = descriptor.sizes("OutputValueTensor");
        descriptor =
            with(descriptor, {{"OutputValueTensor", random.layout(type, output_sizes, FieldKind::output)},
                              {"OutputIndexTensor", random.layout(index_type, output_sizes, FieldKind::output)}});
        const auto rejection = operators::validate(descriptor, core::highest_feature_level);
        ASSERT_FALSE(rejection) << rejection->message;
        const bool few = random.one_in(2);
        auto input = random.filled<T>(input_desc, [&] { return element<T>(random, few); });
        if constexpr (!std::is_integral_v<T>) {
            // The first elements, which the algorithm keeps at first, may all be NaN.
            const auto elements = input.template as<T>();
            const std::size_t first = is_long && random.one_in(2) ? 50 : 0;
            std::fill_n(elements.begin(), std::min(first, elements.size()), T(std::nan("")));
        }
        const auto result = selected<T>(descriptor, input);
        Selection<std::uint64_t> bits{{}, result.indices};
        for (const T value : result.values) {
            bits.values.push_back(bits_of_element(value));
        }
        const auto expected = by_definition<T>(descriptor, input);
        ASSERT_EQ(bits.values, expected.values) << ::testing::PrintToString(to_lines(descriptor));
        ASSERT_EQ(bits.indices, expected.indices) << ::testing::PrintToString(to_lines(descriptor));
    }
}

TEST(TopK1, RandomTensorsOfEveryType) {
    check_random<float>(DataType::float32);
    check_random<core::Float16>(DataType::float16);
    check_random<std::uint64_t>(DataType::uint64);
    check_random<std::uint32_t>(DataType::uint32);
    check_random<std::uint16_t>(DataType::uint16);
    check_random<std::uint8_t>(DataType::uint8);
    check_random<std::int64_t>(DataType::int64);
    check_random<std::int32_t>(DataType::int32);
    check_random<std::int16_t>(DataType::int16);
    check_random<std::int8_t>(DataType::int8);
}

/// Enough sequences for several threads, along an inner and an outer axis.
TEST(TopK1, LargeTensors) {
    Random random(52);
    const auto desc = tensor(DataType::float32, {16, 300, 16});
    const auto input = random.filled<float>(desc, [&] { return static_cast<float>(random.pick(0, 1000)); });
    for (const std::uint32_t axis : {0u, 2u}) {
        const auto descriptor = top_k(desc, axis, 5, decreasing);
        const auto result = selected<float>(descriptor, input);
        const auto expected = by_definition<float>(descriptor, input);
        EXPECT_TRUE(result.indices == expected.indices) << axis;
    }
    // One long sequence: sorted, with each index once, and ties in index order.
    const auto line = tensor(DataType::float32, {100'000});
    const auto values = random.filled<float>(line, [&] { return static_cast<float>(random.pick(0, 1000)); });
    const auto all = selected<float>(top_k(line, 0, 100'000, increasing), values);
    std::vector<bool> seen(100'000);
    for (std::size_t i = 0; i < all.values.size(); ++i) {
        seen[all.indices[i]] = true;
        ASSERT_EQ(all.values[i], std::as_const(values).as<float>()[all.indices[i]]);
        ASSERT_TRUE(i == 0 || all.values[i - 1] < all.values[i] ||
                    (all.values[i - 1] == all.values[i] && all.indices[i - 1] < all.indices[i]));
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 100'000);
}

}  // namespace
}  // namespace dmlconform::tests::top_k1_test
