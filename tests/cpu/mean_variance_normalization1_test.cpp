// Tests of the kernels of MEAN_VARIANCE_NORMALIZATION1: values derived by hand, random descriptors against the
// definition in long double, and independence of the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/normalisation/normalized_element.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::mean_variance_normalization1_test {
namespace {

using core::DataType;
using core::Dimensions;
using core::Float16;
using core::TensorDesc;
using operators::Descriptor;
using operators::FieldKind;

Descriptor normalization(const TensorDesc& input, const std::vector<std::uint32_t>& axes, double epsilon,
                         const std::vector<Setting>& more = {}) {
    return with(describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", input},
                                                          {"OutputTensor", tensor(input.data_type, input.sizes)},
                                                          {"Axes", axes},
                                                          {"NormalizeVariance", 1},
                                                          {"Epsilon", epsilon}}),
                more);
}

cpu::Reference computed(const Descriptor& descriptor, const core::Tensor& input, const core::Tensor* scale = nullptr,
                        const core::Tensor* bias = nullptr) {
    const auto rejection = operators::validate(descriptor, core::highest_feature_level);
    EXPECT_FALSE(rejection) << rejection->message;
    const std::vector<const core::Tensor*> inputs{&input, scale, bias};
    return cpu::compute_reference(descriptor, inputs);
}

std::vector<float> floats(const cpu::Reference& reference) {
    return values_of<float>(reference.outputs.at(0));
}

using F32 = std::vector<float>;

TEST(MeanVarianceNormalization1, ByHand) {
    // The mean is 3 and the population variance 2, so elements are divided by sqrt(2 + epsilon).
    const auto input = tensor_of<float>(tensor(DataType::float32, {5}), {1, 2, 3, 4, 5});
    const auto root = static_cast<float>(std::sqrt(0.5));
    const auto twice = static_cast<float>(std::sqrt(2.0));
    EXPECT_EQ(floats(computed(normalization(input.desc, {0}, 0), input)), (F32{-twice, -root, 0, root, twice}));
    EXPECT_EQ(floats(computed(normalization(input.desc, {0}, 2), input)), (F32{-1, -0.5f, 0, 0.5f, 1}));
    // Without the variance, epsilon is not used.
    EXPECT_EQ(floats(computed(normalization(input.desc, {0}, 2, {{"NormalizeVariance", 0}}), input)),
              (F32{-2, -1, 0, 1, 2}));
    EXPECT_EQ(floats(computed(normalization(input.desc, {0}, 2, {{"NormalizeVariance", 7}}), input)),
              (F32{-1, -0.5f, 0, 0.5f, 1}));
    EXPECT_EQ(floats(computed(normalization(input.desc, {0}, 2, {{"FusedActivation", activation("ACTIVATION_RELU")}}),
                              input)),
              (F32{0, 0, 0, 0.5f, 1}));
    EXPECT_EQ(floats(computed(
                  normalization(input.desc, {0}, 2,
                                {{"FusedActivation", activation("ACTIVATION_LINEAR", {{"Alpha", 4}, {"Beta", 1}})}}),
                  input)),
              (F32{-3, -1, 1, 3, 5}));
}

TEST(MeanVarianceNormalization1, AxesAreASet) {
    // The matrix is {0, 2}, {4, 10}. Its rows have the means 1 and 7, its columns 2 and 6, all elements 4.
    // NormalizeVariance is FALSE.
    const auto input = tensor_of<float>(tensor(DataType::float32, {2, 2}), {0, 2, 4, 10});
    struct Row {
        std::vector<std::uint32_t> axes;
        F32 expected;
    };
    const Row rows[] = {
        {{1}, {-1, 1, -3, 3}},    {{0}, {-2, -4, 2, 4}},       {{0, 1}, {-4, -2, 0, 6}},
        {{1, 0}, {-4, -2, 0, 6}}, {{1, 1, 1}, {-1, 1, -3, 3}}, {{0, 1, 0}, {-4, -2, 0, 6}},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(floats(computed(normalization(input.desc, row.axes, 0, {{"NormalizeVariance", 0}}), input)),
                  row.expected)
            << ::testing::PrintToString(row.axes);
    }
}

TEST(MeanVarianceNormalization1, ScaleAndBias) {
    const auto input = tensor_of<float>(tensor(DataType::float32, {2, 2}), {0, 2, 4, 10});
    const auto columns = tensor_of<float>(tensor(DataType::float32, {1, 2}), {10, 100});
    const auto rows = tensor_of<float>(tensor(DataType::float32, {2, 1}), {0.5f, 0.25f});
    // The stride of a dimension of size 1 must be ignored.
    const auto single = tensor_of<float>(tensor(DataType::float32, {1, 1}, {77, 99}), {-2});
    const auto result = [&](const core::Tensor* scale, const core::Tensor* bias) {
        const auto setting = [](const char* field, const core::Tensor* tensor) {
            return tensor == nullptr ? Setting(field, nullptr) : Setting(field, tensor->desc);
        };
        return floats(computed(
            normalization(input.desc, {1}, 0,
                          {{"NormalizeVariance", 0}, setting("ScaleTensor", scale), setting("BiasTensor", bias)}),
            input, scale, bias));
    };
    // After subtracting the means: -1 1 / -3 3.
    EXPECT_EQ(result(&columns, nullptr), (F32{-10, 100, -30, 300}));
    EXPECT_EQ(result(nullptr, &rows), (F32{-0.5f, 1.5f, -2.75f, 3.25f}));
    EXPECT_EQ(result(&columns, &rows), (F32{-9.5f, 100.5f, -29.75f, 300.25f}));
    EXPECT_EQ(result(&single, &columns), (F32{12, 98, 16, 94}));
    EXPECT_EQ(result(&rows, &single), (F32{-2.5f, -1.5f, -2.75f, -1.25f}));
}

TEST(MeanVarianceNormalization1, DegenerateSets) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const auto constant = tensor_of<float>(tensor(DataType::float32, {3}), {0.1f, 0.1f, 0.1f});
    for (const float value : floats(computed(normalization(constant.desc, {0}, 0), constant))) {
        EXPECT_TRUE(std::isnan(value)) << "0 / 0";
    }
    EXPECT_EQ(floats(computed(normalization(constant.desc, {0}, 1e-5), constant)), (F32{0, 0, 0}));
    // The mean of a single element is the element.
    const auto line = tensor_of<float>(tensor(DataType::float32, {3}), {1, -2, 1e30f});
    const auto column = tensor_of<float>(tensor(DataType::float32, {3, 1}), {1, -2, 1e30f});
    EXPECT_EQ(floats(computed(normalization(column.desc, {1}, 1e-5), column)), (F32{0, 0, 0}));
    // The squares overflow FP32: the variance is 2/9 of 1e60, so the normalised outlier is sqrt(2).
    const auto far = floats(computed(normalization(line.desc, {0}, 1e-5), line));
    EXPECT_FLOAT_EQ(far[2], std::sqrt(2.0f));
    EXPECT_FLOAT_EQ(far[0], -std::sqrt(0.5f));
    // NaN and infinity affect only their own group.
    const auto poisoned =
        tensor_of<float>(tensor(DataType::float32, {3, 2}), {1, 3, std::numeric_limits<float>::quiet_NaN(), 1, inf, 1});
    const auto result = floats(computed(normalization(poisoned.desc, {1}, 3), poisoned));
    EXPECT_EQ(result[0], -0.5f);
    EXPECT_EQ(result[1], 0.5f);
    for (std::size_t i = 2; i < 6; ++i) {
        EXPECT_TRUE(std::isnan(result[i])) << i;
    }
}

TEST(MeanVarianceNormalization1, Float16RoundsOnceAndDoesNotOverflowInside) {
    // The variance 10^6 and the sum are beyond FLOAT16's range; the results are not.
    const auto large = tensor_of<Float16>(tensor(DataType::float16, {4}),
                                          {Float16(60000.0), Float16(58000.0), Float16(60000.0), Float16(58000.0)});
    std::vector<double> result;
    for (const Float16 value : values_of<Float16>(computed(normalization(large.desc, {0}, 0), large).outputs[0])) {
        result.push_back(static_cast<double>(value));
    }
    EXPECT_EQ(result, (std::vector<double>{1, -1, 1, -1}));
    // (1 + 16/1024) * (1 + 32/1024) = 1 + 48.5/1024 is a tie between two FLOAT16 numbers. A bias of 2^-24, half an ULP
    // in FP32, decides the tie unless rounding to FP32 first loses it.
    const auto pair =
        tensor_of<Float16>(tensor(DataType::float16, {2}), {Float16(1 + 16 * 0x1p-10), Float16(-(1 + 16 * 0x1p-10))});
    const auto scale = tensor_of<Float16>(tensor(DataType::float16, {1}), {Float16(1 + 32 * 0x1p-10)});
    const auto rounded = [&](double addend) {
        const auto bias = tensor_of<Float16>(tensor(DataType::float16, {1}), {Float16(addend)});
        const auto reference =
            computed(normalization(pair.desc, {0}, 0,
                                   {{"NormalizeVariance", 0}, {"ScaleTensor", scale.desc}, {"BiasTensor", bias.desc}}),
                     pair, &scale, &bias);
        std::vector<double> values;
        for (const Float16 value : values_of<Float16>(reference.outputs[0])) {
            values.push_back((std::fabs(static_cast<double>(value)) - 1) * 1024);
        }
        return values;
    };
    EXPECT_EQ(rounded(0), (std::vector<double>{48, 48}));
    EXPECT_EQ(rounded(0x1p-24), (std::vector<double>{49, 48}));
    EXPECT_EQ(rounded(-0x1p-24), (std::vector<double>{48, 49}));
}

template <class T>
std::vector<double> numbers(const core::Tensor& tensor) {
    std::vector<double> result;
    for (const T value : values_of<T>(tensor)) {
        result.push_back(static_cast<double>(value));
    }
    return result;
}

struct Element {
    double x = 0;
    cpu::NormalizedElement element;
    /// The elements that share its mean.
    std::vector<double> set;
    /// scale * (x - mean) / sqrt(variance + epsilon) + bias, before the activation.
    long double value = 0;
};

/// Evaluates the documented formula for each element, searching all elements for those that share its mean.
template <class T>
std::vector<Element> by_definition(const Descriptor& descriptor, const core::Tensor& input, const core::Tensor* scale,
                                   const core::Tensor* bias) {
    const Dimensions& sizes = input.desc.sizes;
    const auto all = numbers<T>(input);
    std::vector<std::vector<std::size_t>> coordinates;
    for (std::size_t i = 0; i < all.size(); ++i) {
        coordinates.push_back(coordinates_of(i, sizes));
    }
    std::vector<bool> reduced(sizes.size());
    for (const std::uint32_t axis : descriptor.uints("Axes")) {
        reduced[axis] = true;
    }
    const auto parameter = [&](const core::Tensor* tensor, std::size_t i, double otherwise) {
        if (tensor == nullptr) {
            return otherwise;
        }
        auto at = coordinates[i];
        for (std::size_t d = 0; d < at.size(); ++d) {
            at[d] = tensor->desc.sizes[d] == 1 ? 0 : at[d];
        }
        return numbers<T>(*tensor)[index_of(at, tensor->desc.sizes)];
    };
    std::vector<Element> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<double> set;
        for (std::size_t j = 0; j < all.size(); ++j) {
            bool same = true;
            for (std::size_t d = 0; d < sizes.size(); ++d) {
                same = same && (reduced[d] || coordinates[i][d] == coordinates[j][d]);
            }
            if (same) {
                set.push_back(all[j]);
            }
        }
        const auto n = static_cast<long double>(set.size());
        long double sum = 0;
        for (const double x : set) {
            sum += x;
        }
        long double squares = 0;
        for (const double x : set) {
            squares += (x - sum / n) * (x - sum / n);
        }
        Element e;
        const long double centred = all[i] - sum / n;
        const long double root = descriptor.uint("NormalizeVariance") == 0
                                     ? 1.0L
                                     : std::sqrt(squares / n + static_cast<long double>(descriptor.number("Epsilon")));
        e.element.centred = static_cast<double>(centred);
        e.element.mean = static_cast<double>(sum / n);
        e.element.rstd = static_cast<double>(1 / root);
        e.element.scale = parameter(scale, i, 1);
        e.element.bias = parameter(bias, i, 0);
        e.value = e.element.scale * centred / root + e.element.bias;
        e.x = all[i];
        e.set = std::move(set);
        result.push_back(e);
    }
    return result;
}

Dimensions parameter_sizes(Random& random, const Dimensions& sizes) {
    Dimensions result = sizes;
    for (auto& size : result) {
        size = random.one_in(2) ? 1 : size;
    }
    return result;
}

std::vector<Setting> random_settings(Random& random, DataType type, const Dimensions& sizes) {
    std::vector<Setting> settings{{"OutputTensor", random.layout(type, sizes, FieldKind::output)},
                                  {"NormalizeVariance", random.one_in(4) ? 0 : 1}};
    for (const char* field : {"ScaleTensor", "BiasTensor"}) {
        if (random.one_in(2)) {
            settings.emplace_back(field, random.layout(type, parameter_sizes(random, sizes), FieldKind::input));
        }
    }
    if (random.one_in(3)) {
        settings.emplace_back("FusedActivation", activation("ACTIVATION_ELU", {{"Alpha", 0.5}}));
    }
    return settings;
}

template <class T>
void check_random(DataType type) {
    Random random(71 + static_cast<unsigned>(type));
    const double half_ulp = type == DataType::float16 ? 0x1p-11 : 0x1p-24;
    const double half_subnormal = type == DataType::float16 ? 0x1p-25 : 0x1p-150;
    std::size_t elements = 0;
    std::size_t exact = 0;
    for (int i = 0; i < 300; ++i) {
        const auto sizes = random.sizes(random.pick<std::size_t>(1, 8), 6, 120);
        std::vector<std::uint32_t> axes(random.pick<std::size_t>(1, 4));
        for (auto& axis : axes) {
            axis = random.pick(0u, static_cast<std::uint32_t>(sizes.size()) - 1);
        }
        const Descriptor descriptor = normalization(random.layout(type, sizes, FieldKind::input), axes, 1e-3,
                                                    random_settings(random, type, sizes));
        SCOPED_TRACE(::testing::PrintToString(to_lines(descriptor)));
        const float offset = random.one_in(2) ? 0.0f : random.uniform(-100, 100);
        const auto tensor_for = [&](const char* field) {
            const TensorDesc* desc = descriptor.tensor(field);
            return desc == nullptr ? std::optional<core::Tensor>()
                                   : random.filled<T>(*desc, [&] { return static_cast<T>(offset + random.normal()); });
        };
        const auto input = tensor_for("InputTensor");
        const auto scale = tensor_for("ScaleTensor");
        const auto bias = tensor_for("BiasTensor");
        const auto* scale_pointer = scale ? &*scale : nullptr;
        const auto* bias_pointer = bias ? &*bias : nullptr;
        const auto reference = computed(descriptor, *input, scale_pointer, bias_pointer);
        const auto actual = numbers<T>(reference.outputs[0]);
        const auto expected = by_definition<T>(descriptor, *input, scale_pointer, bias_pointer);
        const bool activated = descriptor.activation("FusedActivation") != nullptr;
        const cpu::element_wise::FusedActivation function(descriptor.activation("FusedActivation"));
        const std::set<std::uint32_t> reduced(axes.begin(), axes.end());
        const auto dimensions = std::ranges::count_if(reduced, [&](std::uint32_t axis) { return sizes[axis] > 1; });
        const cpu::StatisticsAttributes attributes{type, static_cast<std::size_t>(dimensions), true,
                                                   descriptor.uint("NormalizeVariance") != 0,
                                                   double{descriptor.number("Epsilon")}};
        ASSERT_EQ(actual.size(), expected.size());
        for (std::size_t j = 0; j < expected.size(); ++j) {
            const long double real = expected[j].value;
            const long double value = activated && real < 0 ? 0.5L * std::expm1(real) : real;
            // Allows half an ULP, and the cancellation of a large bias in double.
            const double magnitude = std::fabs(expected[j].element.bias) + std::fabs(actual[j]);
            ASSERT_NEAR(actual[j], static_cast<double>(value),
                        half_ulp * std::fabs(actual[j]) + half_subnormal + 1e-13 * magnitude);
            ++elements;
            exact += actual[j] == static_cast<double>(static_cast<T>(static_cast<double>(value))) ? 1 : 0;
            // The slack is the distance from the rounded result to the ends of the range. The order of the elements
            // may change an end by a rounding.
            const auto statistics = cpu::statistics_range(expected[j].set, expected[j].element.mean, attributes);
            const auto range = cpu::accepted_range(expected[j].x, expected[j].element, statistics, function, type);
            const double width = range.high - range.low;
            const double rounding = 4 * half_ulp * magnitude + 2 * half_subnormal;
            ASSERT_NEAR(reference.slack[0].below[j], actual[j] - range.low, 0.01 * width + rounding);
            ASSERT_NEAR(reference.slack[0].above[j], range.high - actual[j], 0.01 * width + rounding);
            ASSERT_TRUE(std::isfinite(width)) << "no number here is so large that it could overflow";
        }
    }
    // Results are correctly rounded, except for exact ties of FLOAT16 whose mean is not a binary fraction: three in
    // 15713.
    EXPECT_GE(exact + elements / 1000, elements);
}

TEST(MeanVarianceNormalization1, RandomDescriptorsFloat32) {
    check_random<float>(DataType::float32);
}

TEST(MeanVarianceNormalization1, RandomDescriptorsFloat16) {
    check_random<Float16>(DataType::float16);
}

/// Each group gives the same bits when several threads compute many groups as when it is computed alone, and so does a
/// large group at any offset.
TEST(MeanVarianceNormalization1, LargeTensorsAreTheirSets) {
    Random random(72);
    constexpr std::uint32_t sets = 300;
    constexpr std::uint32_t length = 1001;
    const auto all =
        random.filled<float>(tensor(DataType::float32, {sets, length}), [&] { return 3 + random.normal(); });
    const auto together = floats(computed(normalization(all.desc, {1}, 1e-5), all));
    // The same elements as columns.
    auto columns = blank_tensor(tensor(DataType::float32, {length, sets}, {1, length}));
    std::copy(all.buffer.bytes().begin(), all.buffer.bytes().end(), columns.buffer.bytes().begin());
    const auto transposed = floats(computed(normalization(columns.desc, {0}, 1e-5), columns));
    for (std::uint32_t set = 0; set < sets; ++set) {
        const auto* first = std::as_const(all).as<float>().data() + std::size_t{set} * length;
        const auto alone = tensor_of(tensor(DataType::float32, {length}), F32(first, first + length));
        const auto result = floats(computed(normalization(alone.desc, {0}, 1e-5), alone));
        for (std::uint32_t i = 0; i < length; ++i) {
            ASSERT_EQ(together[std::size_t{set} * length + i], result[i]) << "set " << set << ", element " << i;
            ASSERT_EQ(transposed[std::size_t{i} * sets + set], result[i]) << "set " << set << ", element " << i;
        }
    }
}

/// A million elements around 10^4: the error of FP32 sums would exceed the standard deviation.
TEST(MeanVarianceNormalization1, LargeSetsKeepTheirPrecision) {
    Random random(73);
    const auto input =
        random.filled<float>(tensor(DataType::float32, {1'000'000}), [&] { return 10'000 + random.normal() / 16; });
    long double sum = 0;
    for (const float value : std::as_const(input).as<float>()) {
        sum += value;
    }
    const long double mean = sum / 1'000'000;
    long double squares = 0;
    for (const float value : std::as_const(input).as<float>()) {
        squares += (value - mean) * (value - mean);
    }
    const long double root = std::sqrt(squares / 1'000'000 + static_cast<long double>(1e-5f));
    const auto result = floats(computed(normalization(input.desc, {0}, 1e-5), input));
    for (std::size_t i = 0; i < result.size(); ++i) {
        const auto expected = static_cast<double>((std::as_const(input).as<float>()[i] - mean) / root);
        ASSERT_NEAR(result[i], expected, 0x1p-24 * std::fabs(expected) + 1e-9) << i;
    }
}

}  // namespace
}  // namespace dmlconform::tests::mean_variance_normalization1_test
