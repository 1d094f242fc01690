// Tests of engine/cpu/product, recurrent and attention: the errors of sequential FP32 sums have the size that
// the reference expects.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/core/float16.h"
#include "tests/cpu/error_statistics.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::honest_products_test {
namespace {

using core::DataType;
using core::Tensor;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

Tensor normal(Random& random, const core::Dimensions& sizes, float factor = 1) {
    return random.filled<float>(real(sizes), [&] { return factor * random.normal(); });
}

template <class Number>
std::vector<Number> numbers_of(const Tensor& tensor) {
    const Floats floats = values_of<float>(tensor);
    return {floats.begin(), floats.end()};
}

void expect_honest(const std::string& name, const Doubles& exact, const Floats& actual,
                   const core::ElementSlack& slack) {
    const ErrorStatistics statistics = error_statistics(exact, actual, slack.sigma);
    EXPECT_GE(statistics.count, 64U) << name;
    EXPECT_GT(statistics.q, 0.05) << name;
    EXPECT_LT(statistics.q, 2) << name;
}

// ---- GEMM --------------------------------------------------------------------------------------------------------

constexpr std::size_t size = 32;

/// Computes function(0.3 * A x B + 0.7 * C), or without a function, in the given number type.
template <class Number>
std::vector<Number> gemm(const Tensor& a, const Tensor& b, const Tensor& c, Number (*function)(Number)) {
    const auto left = numbers_of<Number>(a);
    const auto right = numbers_of<Number>(b);
    auto result = numbers_of<Number>(c);
    const std::size_t depth = left.size() / size;
    for (std::size_t i = 0; i < size * size; ++i) {
        Number sum = 0;
        for (std::size_t k = 0; k < depth; ++k) {
            sum += left[i / size * depth + k] * right[k * size + i % size];
        }
        result[i] = function(static_cast<Number>(0.3F) * sum + static_cast<Number>(0.7F) * result[i]);
    }
    return result;
}

template <class Number>
Number same(Number x) {
    return x;
}
template <class Number>
Number positive(Number x) {
    return x > 0 ? x : 0;
}
template <class Number>
Number sigmoid(Number x) {
    return 1 / (1 + std::exp(-x));
}

TEST(HonestProducts, OfMatrices) {
    struct Function {
        std::string name;
        float (*in_float)(float);
        double (*in_double)(double);
    };
    const std::vector<Function> functions{
        {"", same, same}, {"ACTIVATION_RELU", positive, positive}, {"ACTIVATION_SIGMOID", sigmoid, sigmoid}};
    Random random(1);
    for (const std::uint32_t depth : {1U, 2U, 16U, 300U}) {
        const Tensor a = normal(random, {size, depth});
        const Tensor b = normal(random, {depth, size});
        const Tensor c = normal(random, {size, size});
        for (const auto& [name, in_float, in_double] : functions) {
            const auto fused = name.empty() ? operators::FieldValue() : operators::FieldValue(activation(name));
            const auto reference = reference_of(describe("GEMM", {{"ATensor", a.desc},
                                                                  {"BTensor", b.desc},
                                                                  {"CTensor", c.desc},
                                                                  {"OutputTensor", c.desc},
                                                                  {"Alpha", 0.3F},
                                                                  {"Beta", 0.7F},
                                                                  {"FusedActivation", fused}}),
                                                a, b, c);
            expect_honest(name + " of " + std::to_string(depth), gemm(a, b, c, in_double), gemm(a, b, c, in_float),
                          reference.slack[0]);
        }
    }
}

/// Softmax of each row: exp(x - maximum) divided by the sum.
template <class Number>
std::vector<Number> softmax(std::vector<Number> numbers) {
    for (auto row = numbers.begin(); row != numbers.end(); row += size) {
        const Number maximum = *std::max_element(row, row + size);
        Number sum = 0;
        for (auto x = row; x != row + size; ++x) {
            *x = std::exp(*x - maximum);
            sum += *x;
        }
        std::transform(row, row + size, row, [&](Number x) { return x / sum; });
    }
    return numbers;
}

TEST(HonestProducts, OfMatricesWithSoftmax) {
    Random random(5);
    constexpr std::uint32_t depth = 64;
    const Tensor a = normal(random, {size, depth}, 0.3F);
    const Tensor b = normal(random, {depth, size}, 0.3F);
    const Tensor c = normal(random, {size, size});
    const auto reference = reference_of(describe("GEMM", {{"ATensor", a.desc},
                                                          {"BTensor", b.desc},
                                                          {"CTensor", c.desc},
                                                          {"OutputTensor", c.desc},
                                                          {"Alpha", 0.3F},
                                                          {"Beta", 0.7F},
                                                          {"FusedActivation", activation("ACTIVATION_SOFTMAX")}}),
                                        a, b, c);
    expect_honest("softmax", softmax(gemm<double>(a, b, c, same)), softmax(gemm<float>(a, b, c, same)),
                  reference.slack[0]);
}

/// FP32 sums that are stored as FLOAT16.
TEST(HonestProducts, OfFloat16) {
    Random random(2);
    const auto half = [&](const core::Dimensions& sizes) {
        return random.filled<core::Float16>(tensor(DataType::float16, sizes),
                                            [&] { return core::Float16(double{random.normal()}); });
    };
    constexpr std::uint32_t depth = 100;
    const Tensor a = half({size, depth});
    const Tensor b = half({depth, size});
    const auto reference = reference_of(describe("GEMM", {{"ATensor", a.desc},
                                                          {"BTensor", b.desc},
                                                          {"OutputTensor", tensor(DataType::float16, {size, size})},
                                                          {"Alpha", 1.0F},
                                                          {"Beta", 1.0F}}),
                                        {&a, &b, nullptr});
    const auto left = values_of<core::Float16>(a);
    const auto right = values_of<core::Float16>(b);
    Doubles exact(size * size);
    Floats actual(exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < depth; ++k) {
            const auto x = static_cast<double>(left[i / size * depth + k]);
            const auto y = static_cast<double>(right[k * size + i % size]);
            exact[i] += x * y;
            sum += static_cast<float>(x) * static_cast<float>(y);
        }
        actual[i] = static_cast<float>(static_cast<double>(core::Float16(double{sum})));
    }
    expect_honest("FLOAT16", exact, actual, reference.slack[0]);
}

// ---- convolution -------------------------------------------------------------------------------------------------

constexpr std::size_t channels = 6;
constexpr std::size_t filters = 8;
constexpr std::size_t width = 9;

/// A 3 x 3 convolution with zero padding.
template <class Number>
std::vector<Number> convolution(const Tensor& image, const Tensor& filter, const Tensor& bias) {
    const auto x = numbers_of<Number>(image);
    const auto w = numbers_of<Number>(filter);
    const auto b = numbers_of<Number>(bias);
    std::vector<Number> result;
    for (std::size_t i = 0; i < filters * width * width; ++i) {
        const std::size_t f = i / width / width;
        Number sum = 0;
        for (std::size_t k = 0; k < channels * 9; ++k) {
            const std::size_t row = i / width % width + k / 3 % 3;
            const std::size_t column = i % width + k % 3;
            if (row >= 1 && row <= width && column >= 1 && column <= width) {
                sum += x[(k / 9 * width + row - 1) * width + column - 1] * w[f * channels * 9 + k];
            }
        }
        result.push_back(sum + b[f]);
    }
    return result;
}

TEST(HonestProducts, OfConvolutions) {
    Random random(3);
    const Tensor image = normal(random, {1, channels, width, width});
    const Tensor filter = normal(random, {filters, channels, 3, 3});
    const Tensor bias = normal(random, {1, filters, 1, 1});
    const auto reference =
        reference_of(with(plain_convolution(image.desc, filter.desc, real({1, filters, width, width})),
                          {{"BiasTensor", bias.desc}, {"StartPadding", {1, 1}}, {"EndPadding", {1, 1}}}),
                     image, filter, bias);
    expect_honest("CONVOLUTION", convolution<double>(image, filter, bias), convolution<float>(image, filter, bias),
                  reference.slack[0]);
}

/// Transposed convolution along one dimension with stride 2: each output element uses every second filter element.
template <class Number>
std::vector<Number> backward(const Tensor& image, const Tensor& filter, std::size_t length) {
    const auto x = numbers_of<Number>(image);
    const auto w = numbers_of<Number>(filter);
    constexpr std::size_t taps = 3;
    const std::size_t to = 2 * (length - 1) + taps;
    std::vector<Number> result(filters * to);
    for (std::size_t f = 0; f < filters; ++f) {
        for (std::size_t channel = 0; channel < channels; ++channel) {
            for (std::size_t i = 0; i < length; ++i) {
                for (std::size_t tap = 0; tap < taps; ++tap) {
                    result[f * to + 2 * i + tap] += x[channel * length + i] * w[(channel * filters + f) * taps + tap];
                }
            }
        }
    }
    return result;
}

TEST(HonestProducts, OfBackwardConvolutions) {
    Random random(6);
    constexpr std::uint32_t length = 40;
    const Tensor image = normal(random, {1, channels, length});
    const Tensor filter = normal(random, {channels, filters, 3});
    const auto reference =
        reference_of(with(plain_convolution(image.desc, filter.desc, real({1, filters, 2 * length + 1})),
                          {{"Direction", 1}, {"Strides", {2}}}),
                     {&image, &filter, nullptr});
    expect_honest("backward", backward<double>(image, filter, length), backward<float>(image, filter, length),
                  reference.slack[0]);
}

// ---- integers ----------------------------------------------------------------------------------------------------

TEST(HonestProducts, OfIntegersAsFloats) {
    Random random(4);
    constexpr std::uint32_t depth = 50;
    const auto integers = [&](const core::Dimensions& sizes) {
        return random.filled<std::uint8_t>(bytes(sizes), [&] { return random.pick<std::uint8_t>(0, 255); });
    };
    const Tensor a = integers({size, depth});
    const Tensor b = integers({depth, size});
    const Tensor a_scale = tensor_of<float>(real({1}), {0.013F});
    const Tensor b_scale = tensor_of<float>(real({1}), {0.37F});
    const Tensor zero_point = tensor_of<std::uint8_t>(bytes({1}), {128});
    const auto reference =
        reference_of(describe("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", {{"ATensor", a.desc},
                                                                   {"AScaleTensor", a_scale.desc},
                                                                   {"AZeroPointTensor", zero_point.desc},
                                                                   {"BTensor", b.desc},
                                                                   {"BScaleTensor", b_scale.desc},
                                                                   {"BZeroPointTensor", zero_point.desc},
                                                                   {"OutputTensor", real({size, size})}}),
                     {&a, &a_scale, &zero_point, &b, &b_scale, &zero_point, nullptr});
    const auto left = values_of<std::uint8_t>(a);
    const auto right = values_of<std::uint8_t>(b);
    Doubles exact(size * size);
    Floats actual(exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
        for (std::size_t k = 0; k < depth; ++k) {
            const auto x = static_cast<float>(left[i / size * depth + k] - 128);
            const auto y = static_cast<float>(right[k * size + i % size] - 128);
            exact[i] += double{x} * double{0.013F} * (double{y} * double{0.37F});
            actual[i] += (x * 0.013F) * (y * 0.37F);
        }
    }
    expect_honest("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", exact, actual, reference.slack[0]);
}

}  // namespace
}  // namespace dmlconform::tests::honest_products_test
