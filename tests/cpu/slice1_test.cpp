// Tests of the kernels of SLICE1: the documentation's examples, and random windows against the definition, index by
// index.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::slice1_test {
namespace {

using core::DataType;
using core::Dimensions;
using operators::Descriptor;
using operators::FieldKind;

template <class T>
std::vector<T> sliced(const Descriptor& descriptor, const core::Tensor& input) {
    const std::vector<const core::Tensor*> inputs{&input};
    return values_of<T>(cpu::compute_reference(descriptor, inputs).outputs.at(0));
}

struct Window {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> sizes;
    std::vector<std::int32_t> strides;
};

Descriptor slice(const core::TensorDesc& input, const core::TensorDesc& output, const Window& window) {
    return describe("SLICE1", {{"InputTensor", input},
                               {"OutputTensor", output},
                               {"InputWindowOffsets", window.offsets},
                               {"InputWindowSizes", window.sizes},
                               {"InputWindowStrides", window.strides}});
}

/// The output's element i is the input's element at the window's start plus (or its end minus) i times the stride.
template <class T>
std::vector<T> by_definition(const Descriptor& descriptor, const Window& window, const core::Tensor& input) {
    const auto all = values_of<T>(input);
    const Dimensions& sizes = descriptor.sizes("OutputTensor");
    std::vector<T> result;
    for (std::size_t i = 0; i < count_of(sizes); ++i) {
        auto coordinates = coordinates_of(i, sizes);
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            const std::int64_t first =
                window.strides[d] > 0 ? window.offsets[d] : window.offsets[d] + window.sizes[d] - 1;
            coordinates[d] =
                static_cast<std::size_t>(first + static_cast<std::int64_t>(coordinates[d]) * window.strides[d]);
        }
        result.push_back(all.at(index_of(coordinates, input.desc.sizes)));
    }
    return result;
}

TEST(Slice1, Documentation) {
    std::vector<float> values(16);
    std::iota(values.begin(), values.end(), 1.0f);
    const auto input = tensor_of(tensor(DataType::float32, {1, 1, 4, 4}), values);
    const auto output = tensor(DataType::float32, {1, 1, 2, 2});
    EXPECT_EQ(sliced<float>(slice(input.desc, output, {{0, 0, 0, 1}, {1, 1, 4, 3}, {1, 1, 2, 2}}), input),
              (std::vector<float>{2, 4, 10, 12}));
    EXPECT_EQ(sliced<float>(slice(input.desc, output, {{0, 0, 0, 1}, {1, 1, 4, 3}, {1, 1, -2, 2}}), input),
              (std::vector<float>{14, 16, 6, 8}));
}

TEST(Slice1, OneDimension) {
    const auto input = tensor_of<std::int16_t>(tensor(DataType::int16, {6}), {10, 11, 12, 13, 14, 15});
    struct Row {
        std::uint32_t offset;
        std::uint32_t size;
        std::int32_t stride;
        std::vector<std::int16_t> expected;
    };
    const Row rows[] = {
        {0, 6, 1, {10, 11, 12, 13, 14, 15}},
        {0, 6, -1, {15, 14, 13, 12, 11, 10}},
        {1, 4, 2, {11, 13}},
        {1, 4, -2, {14, 12}},
        {1, 4, 3, {11, 14}},
        {1, 4, -3, {14, 11}},
        {2, 3, 1, {12, 13}},  // fewer elements than in the window: the first ones
        {2, 3, -1, {14, 13}},
        {5, 1, 7, {15}},  // a stride larger than the window
        {1, 4, INT32_MAX, {11}},
        {1, 4, INT32_MIN, {14}},
    };
    for (const Row& row : rows) {
        const auto output = tensor(DataType::int16, {static_cast<std::uint32_t>(row.expected.size())});
        const auto descriptor = slice(input.desc, output, {{row.offset}, {row.size}, {row.stride}});
        ASSERT_FALSE(operators::validate(descriptor, core::highest_feature_level));
        EXPECT_EQ(sliced<std::int16_t>(descriptor, input), row.expected)
            << row.offset << ' ' << row.size << ' ' << row.stride;
    }
}

/// Bits that arithmetic would change: signalling NaNs, subnormals, negative zero.
TEST(Slice1, CopiesBits) {
    const std::vector<std::uint32_t> singles{0x7f800001, 0xffc12345, 0x00000001, 0x80000000, 0x807fffff};
    const auto single = tensor_of(tensor(DataType::float32, {5}), singles);
    EXPECT_EQ(sliced<std::uint32_t>(slice(single.desc, single.desc, {{0}, {5}, {1}}), single), singles);
    const std::vector<std::uint16_t> halves{0x7c01, 0xfe55, 0x0001, 0x8000, 0x83ff};
    const auto half = tensor_of(tensor(DataType::float16, {5}), halves);
    EXPECT_EQ(sliced<std::uint16_t>(slice(half.desc, half.desc, {{0}, {5}, {1}}), half), halves);
    const std::vector<std::uint64_t> doubles{0x7ff0000000000001, 0xfff8000000054321, 1, 0x8000000000000000};
    const auto wide = tensor_of(tensor(DataType::float64, {4}), doubles);
    EXPECT_EQ(sliced<std::uint64_t>(slice(wide.desc, wide.desc, {{0}, {4}, {1}}), wide), doubles);
}

Window random_window(Random& random, const Dimensions& input, Dimensions& output) {
    Window window;
    for (const std::uint32_t extent : input) {
        const std::uint32_t size = random.pick(1u, extent);
        std::int32_t stride = random.pick(1, 4);
        if (random.one_in(10)) {
            stride = INT32_MAX;
        }
        const std::uint32_t most = 1 + (size - 1) / static_cast<std::uint32_t>(stride);
        output.push_back(random.one_in(3) ? random.pick(1u, most) : most);
        window.offsets.push_back(random.pick(0u, extent - size));
        window.sizes.push_back(size);
        window.strides.push_back(random.one_in(2) ? -stride : stride);
    }
    return window;
}

template <class T>
void check_random_windows(DataType type, int windows) {
    Random random(41 + static_cast<unsigned>(type));
    for (int i = 0; i < windows; ++i) {
        const auto sizes = random.sizes(random.pick<std::size_t>(1, 8), 6, 500);
        Dimensions output_sizes;
        const Window window = random_window(random, sizes, output_sizes);
        const auto descriptor = slice(random.layout(type, sizes, FieldKind::input),
                                      random.layout(type, output_sizes, FieldKind::output), window);
        const auto rejection = operators::validate(descriptor, core::highest_feature_level);
        ASSERT_FALSE(rejection) << rejection->message;
        const auto input =
            random.filled<T>(*descriptor.tensor("InputTensor"), [&] { return static_cast<T>(random.bits()); });
        ASSERT_EQ(sliced<T>(descriptor, input), by_definition<T>(descriptor, window, input))
            << ::testing::PrintToString(to_lines(descriptor));
    }
}

TEST(Slice1, RandomWindowsOfEveryType) {
    for (const DataType type :
         {DataType::float32, DataType::float16, DataType::uint32, DataType::uint16, DataType::uint8, DataType::int32,
          DataType::int16, DataType::int8, DataType::float64, DataType::uint64, DataType::int64}) {
        SCOPED_TRACE(name(type));
        switch (core::bytes_of(type)) {
            case 1:
                check_random_windows<std::uint8_t>(type, 100);
                break;
            case 2:
                check_random_windows<std::uint16_t>(type, 100);
                break;
            case 4:
                check_random_windows<std::uint32_t>(type, 100);
                break;
            default:
                check_random_windows<std::uint64_t>(type, 100);
                break;
        }
    }
}

/// Large enough for several threads: contiguous rows, and single elements in another order.
TEST(Slice1, LargeTensors) {
    Random random(42);
    const Window window{{1, 0, 3}, {40, 150, 200}, {1, -1, 1}};
    for (const bool transposed : {false, true}) {
        const auto input = transposed ? tensor(DataType::int16, {41, 150, 210}, {1, 41, 41 * 150})
                                      : tensor(DataType::int16, {41, 150, 210});
        const auto descriptor = slice(input, tensor(DataType::int16, {40, 150, 200}), window);
        const auto values =
            random.filled<std::uint16_t>(input, [&] { return static_cast<std::uint16_t>(random.bits()); });
        // EXPECT_EQ would print a million numbers.
        EXPECT_TRUE(sliced<std::uint16_t>(descriptor, values) ==
                    by_definition<std::uint16_t>(descriptor, window, values));
    }
}

}  // namespace
}  // namespace dmlconform::tests::slice1_test
