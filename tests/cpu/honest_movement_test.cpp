// Tests of engine/cpu/movement: the errors of plain FP32 implementations of this family's arithmetic have the
// size that the reference expects.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "tests/cpu/error_statistics.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::honest_movement_test {
namespace {

using core::Tensor;

void expect_honest(const std::string& name, const std::vector<double>& exact, const std::vector<float>& actual,
                   const cpu::Reference& reference) {
    const ErrorStatistics statistics = error_statistics(exact, actual, reference.slack[0].sigma);
    EXPECT_GE(statistics.count, 64U) << name;
    EXPECT_GT(statistics.q, 0.05) << name;
    EXPECT_LT(statistics.q, 2) << name;
}

/// Adds up overlapping windows of five elements, one at every position.
template <class Number>
std::vector<Number> folded(const std::vector<float>& blocks, std::size_t count) {
    std::vector<Number> result(count + 4);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        result[i / count + i % count] += static_cast<Number>(blocks[i]);
    }
    return result;
}

TEST(HonestMovement, Folds) {
    Random random(1);
    constexpr std::uint32_t count = 200;
    const Tensor blocks = random.filled<float>(real({1, 5, count}), [&] { return random.normal(); });
    const auto reference = reference_of(describe("FOLD", {{"InputTensor", blocks.desc},
                                                          {"OutputTensor", real({1, 1, count + 4})},
                                                          {"WindowSizes", {5}},
                                                          {"Strides", {1}},
                                                          {"Dilations", {1}},
                                                          {"StartPadding", {0}},
                                                          {"EndPadding", {0}}}),
                                        blocks);
    const auto numbers = values_of<float>(blocks);
    expect_honest("FOLD", folded<double>(numbers, count), folded<float>(numbers, count), reference);
}

constexpr std::size_t size = 16;
constexpr std::size_t scale = 3;

/// The pixel's coordinate, limited to the outermost centres.
template <class Number>
Number position(std::size_t pixel) {
    const Number at = (static_cast<Number>(pixel) + Number{0.5F}) / Number{scale} - Number{0.5F};
    return std::clamp(at, Number{0}, Number{size - 1});
}

template <class Number>
std::vector<Number> upsampled(const std::vector<float>& image) {
    std::vector<Number> result;
    for (std::size_t i = 0; i < size * scale * size * scale; ++i) {
        const auto y = position<Number>(i / (size * scale));
        const auto x = position<Number>(i % (size * scale));
        const Number down = y - std::floor(y);
        const Number right = x - std::floor(x);
        const auto at = [&](std::size_t row, std::size_t column) {
            const std::size_t r = std::min(static_cast<std::size_t>(y) + row, size - 1);
            const std::size_t c = std::min(static_cast<std::size_t>(x) + column, size - 1);
            return static_cast<Number>(image[r * size + c]);
        };
        const Number above = at(0, 0) * (1 - right) + at(0, 1) * right;
        const Number below = at(1, 0) * (1 - right) + at(1, 1) * right;
        result.push_back(above * (1 - down) + below * down);
    }
    return result;
}

TEST(HonestMovement, Upsamples) {
    Random random(2);
    const Tensor image = random.filled<float>(real({1, 1, size, size}), [&] { return random.normal(); });
    const auto reference =
        reference_of(describe("UPSAMPLE_2D", {{"InputTensor", image.desc},
                                              {"OutputTensor", real({1, 1, size * scale, size * scale})},
                                              {"ScaleSize", operators::FieldValue(operators::Size2D{scale, scale})},
                                              {"InterpolationMode", 1}}),
                     image);
    const auto numbers = values_of<float>(image);
    expect_honest("UPSAMPLE_2D", upsampled<double>(numbers), upsampled<float>(numbers), reference);
}

TEST(HonestMovement, Counts) {
    constexpr std::uint32_t count = 500;
    const auto bits = [](float x) {
        return operators::FieldValue(operators::ScalarUnion{std::bit_cast<std::uint32_t>(x)});
    };
    const auto reference = reference_of(describe("FILL_VALUE_SEQUENCE", {{"OutputTensor", real({count})},
                                                                         {"ValueDataType", 1},
                                                                         {"ValueStart", bits(0.3F)},
                                                                         {"ValueDelta", bits(0.1F)}}),
                                        {});
    std::vector<double> exact;
    std::vector<float> actual;
    for (std::size_t i = 0; i < count; ++i) {
        exact.push_back(double{0.3F} + static_cast<double>(i) * double{0.1F});
        actual.push_back(0.3F + static_cast<float>(i) * 0.1F);
    }
    expect_honest("FILL_VALUE_SEQUENCE", exact, actual, reference);
}

}  // namespace
}  // namespace dmlconform::tests::honest_movement_test
