// Tests of engine/cpu/element_wise/turned_input: transposed inputs give the same elements as any others.
#include "engine/cpu/element_wise/turned_input.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/cpu/cpu_engine.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::turned_input_test {
namespace {

using core::DataType;
using core::Dimensions;
using core::Tensor;
using core::TensorDesc;

/// The CPU engine's output for two inputs, in row-major order.
template <class T>
std::vector<T> computed(const operators::Descriptor& descriptor, const Tensor& a, const Tensor& b) {
    cpu::CpuEngine engine(core::highest_feature_level);
    auto executable = engine.compile(descriptor);
    EXPECT_TRUE(executable.has_value());
    const std::vector<const Tensor*> inputs{&a, &b};
    EXPECT_TRUE((*executable)->bind(inputs));
    EXPECT_TRUE((*executable)->execute());
    Tensor output = core::output_tensor(*descriptor.tensor("OutputTensor"));
    const std::vector<Tensor*> outputs{&output};
    EXPECT_TRUE((*executable)->read(outputs));
    return values_of<T>(output);
}

/// Compares random layouts, and counts how often an input was transposed.
template <class T, class Draw, class Formula>
int compare_random_layouts(std::string_view name, DataType type, const Draw& draw, const Formula& formula) {
    Random random(20);
    int turned = 0;
    for (int round = 0; round < 60; ++round) {
        // Runs of several blocks, and runs of only a few elements.
        const Dimensions sizes{random.pick(1u, 3u), random.pick(1u, 90u),
                               random.one_in(4) ? random.pick(200u, 600u) : random.pick(1u, 40u)};
        const auto layout = [&](operators::FieldKind kind) { return random.layout(type, sizes, kind); };
        const bool transposed = random.one_in(3);
        const TensorDesc output = transposed ? tensor(type, sizes) : layout(operators::FieldKind::output);
        const TensorDesc left_desc =
            transposed ? tensor(type, sizes, {sizes[1] * sizes[2], 1, sizes[1]}) : layout(operators::FieldKind::input);
        const Tensor a = random.filled<T>(left_desc, [&] { return draw(random); });
        const Tensor b = random.filled<T>(layout(operators::FieldKind::input), [&] { return draw(random); });
        const operators::Descriptor descriptor =
            describe(name, {{"ATensor", a.desc}, {"BTensor", b.desc}, {"OutputTensor", output}});
        const std::vector<T> left = values_of<T>(a);
        const std::vector<T> right = values_of<T>(b);
        std::vector<T> wanted(left.size());
        std::transform(left.begin(), left.end(), right.begin(), wanted.begin(), formula);
        EXPECT_EQ(computed<T>(descriptor, a, b), wanted) << name << " round " << round;
        const std::vector<const Tensor*> inputs{&a, &b};
        const auto runs = cpu::element_wise::runs_of(descriptor, inputs);
        turned += cpu::element_wise::TurnedInput(a, runs, 0, 256).is_turned() ? 1 : 0;
    }
    return turned;
}

template <class T>
int compare_bits(DataType type) {
    return compare_random_layouts<T>(
        "ELEMENT_WISE_BIT_XOR", type, [](Random& random) { return static_cast<T>(random.bits()); },
        [](T x, T y) { return static_cast<T>(x ^ y); });
}

TEST(TurnedInput, AnyLayoutGivesTheSameElements) {
    EXPECT_GT(compare_bits<std::uint8_t>(DataType::uint8), 5);
    EXPECT_GT(compare_bits<std::uint16_t>(DataType::uint16), 5);
    EXPECT_GT(compare_bits<std::uint32_t>(DataType::uint32), 5);
    EXPECT_GT(compare_bits<std::uint64_t>(DataType::uint64), 5);
    const int turned = compare_random_layouts<float>(
        "ELEMENT_WISE_SUBTRACT", DataType::float32, [](Random& random) { return random.normal(); },
        [](float x, float y) { return x - y; });
    EXPECT_GT(turned, 5);
}

/// The input's memory ends with its last element: nothing after it is read.
TEST(TurnedInput, EndsWhereTheTensorDoes) {
    constexpr std::uint32_t rows = 21;
    constexpr std::uint32_t columns = 37;
    std::vector<float> numbers(rows * columns);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<float>(i);
    }
    const Tensor given = tensor_of(tensor(DataType::float32, {rows, columns}, {1, rows}), numbers);
    const auto descriptor =
        describe("ELEMENT_WISE_IDENTITY",
                 {{"InputTensor", given.desc}, {"OutputTensor", tensor(DataType::float32, {rows, columns})}});
    const std::vector<const Tensor*> inputs{&given};
    const auto runs = cpu::element_wise::runs_of(descriptor, inputs);
    cpu::element_wise::TurnedInput turned(given, runs, 0, 16);
    ASSERT_TRUE(turned.is_turned());
    for (std::uint32_t row = 0; row < rows; ++row) {
        for (std::uint32_t i = 0; i < columns; i += 16) {
            const std::size_t count = std::min(16u, columns - i);
            const auto source = turned.source_of({DataType::float32, row + i * rows, rows}, i, count);
            std::array<double, 16> loaded{};
            cpu::element_wise::load(source.memory, source.segment, count, loaded.data());
            for (std::size_t k = 0; k < count; ++k) {
                ASSERT_EQ(loaded[k], static_cast<double>(row * columns + i + k));
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::turned_input_test
