// Tests of several runs of an operator that are computed at once: they are the runs that the kernel computes one by
// one, within the error bound of FP32 differences, on any processor and in any company.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cpu/product/run_tile.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "tests/cpu/with_registers.h"

namespace dmlconform::tests::runs_test {
namespace {

namespace product = cpu::product;
using core::DataType;
using core::Tensor;
using operators::Descriptor;

std::vector<float> random_floats(Random& random, std::int64_t count) {
    std::vector<float> numbers(static_cast<std::size_t>(count));
    std::ranges::generate(numbers, [&] { return random.normal(); });
    return numbers;
}

TEST(RunTile, RoundsOnce) {
    Random random(3);
    const auto scaled = [&](float number) { return std::ldexp(number, random.pick(-30, 30)); };
    std::vector<std::array<float, 3>> triples = {
        {0x1.000002p0F, 0x1.000002p0F, 0x1p-60F},   // half of a unit, and a little more
        {0x1.000002p0F, 0x1.000002p0F, -0x1p-60F},  // and a little less
        {0x1.000001p0F, 0x1p0F, 0x1p-80F},
        {1, 1, -1},
        {0x1p-100F, 0x1p-49F, 0x1p-149F},
        {0x1p-75F, 0x1.8p-75F, 0},
        {0x1p127F, 2, -1},
        {0x1p127F, 2, -std::numeric_limits<float>::infinity()},
        {0, std::numeric_limits<float>::infinity(), 1},
        {-0.0F, 1, -0.0F}};
    for (int i = 0; i < 100'000; ++i) {
        const float a = scaled(random.normal());
        const float b = scaled(random.normal());
        triples.push_back({a, b, i % 2 == 0 ? scaled(random.normal()) : -a * b * (1 + random.normal() * 0x1p-20F)});
    }
    for (const auto& [a, b, c] : triples) {
        const float expected = std::fma(a, b, c);
        const float found = product::multiply_add(a, b, c);
        ASSERT_EQ(std::isnan(found), std::isnan(expected)) << a << " * " << b << " + " << c;
        if (!std::isnan(expected)) {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected))
                << a << " * " << b << " + " << c;
        }
    }
}

/// Sums are rounded after each k, in the order of k.
TEST(RunTile, EveryInstructionSetComputesTheSame) {
    Random random(1);
    constexpr std::int64_t step = product::run_tile_columns * product::run_lanes;
    for (const std::int64_t depth : {0, 1, 2, 7, 64, 333}) {
        const auto left = random_floats(random, std::max<std::int64_t>(1, depth * product::run_tile_rows));
        const auto right = random_floats(random, std::max<std::int64_t>(1, depth * step));
        const auto given = random_floats(random, product::run_tile_sums);
        for (const bool is_first : {false, true}) {
            std::vector<float> expected = given;
            for (std::int64_t i = 0; i < product::run_tile_sums; ++i) {
                float sum = is_first ? 0 : given[static_cast<std::size_t>(i)];
                for (std::int64_t k = 0; k < depth; ++k) {
                    sum = product::multiply_add(left[static_cast<std::size_t>(k * product::run_tile_rows + i / step)],
                                                right[static_cast<std::size_t>(k * step + i % step)], sum);
                }
                expected[static_cast<std::size_t>(i)] = sum;
            }
            for (const cpu::Registers widest : all_registers) {
                const WithRegisters registers(widest);
                std::vector<float> sums = given;
                product::fastest_run_tile()(left.data(), right.data(), depth, sums.data(), is_first);
                EXPECT_EQ(sums, expected) << depth;
            }
        }
    }
}

/// For any number of columns relative to registers and tiles, nothing else is touched.
TEST(RunTile, TakesRunsTogetherAndApart) {
    Random random(2);
    constexpr std::int64_t stride = product::run_tile_sums;
    for (std::int64_t count = 1; count <= 40; ++count) {
        for (const std::int64_t step : {1, 2}) {
            for (const cpu::Registers widest : all_registers) {
                const WithRegisters registers(widest);
                const auto reference = random_floats(random, count * step);
                std::vector<std::vector<float>> runs;
                std::array<const float*, product::run_lanes> pointers{};
                for (const float*& pointer : pointers) {
                    pointer = runs.emplace_back(random_floats(random, count * step)).data();
                }
                constexpr std::int64_t first = 2;
                std::vector<float> together(static_cast<std::size_t>(10 * stride), 7.0F);
                const product::RunColumns columns{together.data(), stride};
                product::interleave_deviations(pointers, reference.data(), step, count, columns, first);
                EXPECT_EQ(*columns.at(first - 1), 7.0F);
                EXPECT_EQ(*columns.at(first + count), 7.0F);
                std::vector<float> apart(static_cast<std::size_t>(product::run_lanes * (count + first)));
                EXPECT_TRUE(product::separate_runs(columns, count + first, apart.data(), count + first));
                for (std::size_t run = 0; run < pointers.size(); ++run) {
                    for (std::int64_t i = 0; i < count; ++i) {
                        const auto at = static_cast<std::size_t>(i * step);
                        ASSERT_EQ(
                            apart[run * static_cast<std::size_t>(count + first) + static_cast<std::size_t>(first + i)],
                            runs[run][at] - reference[at]);
                    }
                }
                *columns.at(first + count - 1) = std::numeric_limits<float>::infinity();
                EXPECT_FALSE(product::separate_runs(columns, count + first, apart.data(), count + first));
            }
        }
    }
}

/// A convolution, its inputs, and the inputs of runs, of which the first one differs.
struct Convolved {
    Descriptor descriptor;
    std::vector<Tensor> inputs;
    std::vector<Tensor> images;

    [[nodiscard]] std::vector<const Tensor*> pointers(const Tensor& image) const {
        return {&image, &inputs[1], inputs.size() > 2 ? &inputs[2] : nullptr};
    }

    /// The outputs of these runs; empty if they have to be computed one by one.
    [[nodiscard]] std::vector<std::vector<Tensor>> outputs(std::span<const Tensor> runs) const {
        std::vector<double> for_runs;
        const auto of_reference = pointers(inputs[0]);
        (void)cpu::compute_reference(descriptor, of_reference, cpu::Accumulation::fp32, &for_runs);
        std::vector<std::vector<const Tensor*>> of_runs;
        for (const Tensor& image : runs) {
            of_runs.push_back(pointers(image));
        }
        std::vector<std::atomic<int>> passed(for_runs.size());
        std::vector<std::vector<float>> changed(runs.size(), std::vector<float>(for_runs.size()));
        auto outputs = cpu::compute_outputs_of_runs(
            descriptor, {of_reference, for_runs, {true, false, false}, {of_runs.begin(), of_runs.end()}}, {}, [] {},
            [&](std::int64_t first, std::int64_t count, float* elements, std::int64_t next) {
                EXPECT_LE(next + count, std::ssize(passed));
                for (std::int64_t i = 0; i < count; ++i) {
                    const auto element = static_cast<std::size_t>(first + i);
                    ++passed[element];
                    for (std::size_t run = 0; run < runs.size(); ++run) {
                        float& number = elements[static_cast<std::int64_t>(run) * count + i];
                        number = -number;
                        changed[run][element] = number;
                    }
                }
            });
        undo_changes(passed, changed, outputs);
        return outputs;
    }

    /// Checks that each element of packed FP32 outputs was changed once, and is stored so.
    static void undo_changes(const std::vector<std::atomic<int>>& passed,
                             const std::vector<std::vector<float>>& changed,
                             std::vector<std::vector<Tensor>>& outputs) {
        for (std::size_t run = 0; run < outputs.size(); ++run) {
            Tensor& output = outputs[run].front();
            const bool is_packed_fp32 = output.desc.data_type == DataType::float32 && core::is_packed(output.desc);
            for (std::size_t i = 0; i < passed.size(); ++i) {
                ASSERT_EQ(passed[i], is_packed_fp32 ? 1 : 0) << i;
                if (is_packed_fp32) {
                    float& element = output.as<float>()[i];
                    ASSERT_EQ(std::memcmp(&element, &changed[run][i], sizeof element), 0) << i << " in run " << run;
                    element = -element;
                }
            }
        }
    }
};

void fill(Tensor& tensor, const std::function<float()>& next) {
    core::with_type(tensor.desc.data_type,
                    [&]<class T>() { std::ranges::generate(tensor.as<T>(), [&] { return static_cast<T>(next()); }); });
}

/// The magnitudes of a tensor, or of its differences to another one.
Tensor magnitudes(const Tensor& a, const Tensor* b = nullptr) {
    Tensor result(a.desc);
    core::with_type(a.desc.data_type, [&]<class T>() {
        for (std::size_t i = 0; i < a.as<T>().size(); ++i) {
            const auto other = b == nullptr ? 0 : static_cast<float>(b->as<T>()[i]);
            result.as<T>()[i] = static_cast<T>(std::fabs(static_cast<float>(a.as<T>()[i]) - other));
        }
    });
    return result;
}

struct Shape {
    const char* name;
    core::Dimensions input;
    core::Dimensions filter;
    core::Dimensions output;
    std::vector<std::int64_t> strides{1, 1};
    std::vector<std::int64_t> dilations{1, 1};
    std::vector<std::int64_t> padding{0, 0};
    std::int64_t groups = 1;
    bool backward = false;
    bool mirrored = false;
    bool bias = false;
    bool relu = false;
    bool strided_output = false;
    DataType type = DataType::float32;
};

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all{
        {.name = "1x1", .input = {1, 70, 7, 7}, .filter = {9, 70, 1, 1}, .output = {1, 9, 7, 7}},
        {.name = "padded", .input = {2, 5, 9, 11}, .filter = {6, 5, 3, 3}, .output = {2, 6, 9, 11}, .padding = {1, 1}},
        {.name = "wide", .input = {1, 3, 1, 300}, .filter = {4, 3, 1, 5}, .output = {1, 4, 1, 296}, .bias = true},
        {.name = "strides",
         .input = {1, 3, 15, 15},
         .filter = {8, 3, 7, 7},
         .output = {1, 8, 8, 8},
         .strides = {2, 2},
         .padding = {3, 3}},
        {.name = "dilated groups",
         .input = {1, 8, 12, 12},
         .filter = {12, 4, 3, 3},
         .output = {1, 12, 8, 8},
         .dilations = {2, 2},
         .groups = 2,
         .mirrored = true},
        {.name = "backward",
         .input = {1, 6, 5, 5},
         .filter = {6, 5, 3, 3},
         .output = {1, 5, 11, 11},
         .strides = {2, 2},
         .backward = true},
        {.name = "many rows", .input = {1, 2, 3, 5}, .filter = {600, 2, 1, 1}, .output = {1, 600, 3, 5}},
        {.name = "activation",
         .input = {1, 4, 6, 6},
         .filter = {5, 4, 3, 3},
         .output = {1, 5, 4, 4},
         .bias = true,
         .relu = true},
        {.name = "gaps", .input = {1, 4, 6, 6}, .filter = {5, 4, 3, 3}, .output = {1, 5, 4, 4}, .strided_output = true},
        {.name = "FLOAT16",
         .input = {1, 4, 6, 6},
         .filter = {5, 4, 3, 3},
         .output = {1, 5, 4, 4},
         .type = DataType::float16},
    };
    return all;
}

Convolved convolved(const Shape& shape, bool plain = false) {
    using operators::FieldValue;
    const auto list = [](const std::vector<std::int64_t>& numbers) {
        return std::vector<std::uint32_t>(numbers.begin(), numbers.end());
    };
    core::TensorDesc output = tensor(shape.type, shape.output);
    if (shape.strided_output && !plain) {
        output = tensor(shape.type, shape.output, {2 * 5 * 16, 2 * 16, 8, 2});
    }
    const core::TensorDesc bias = tensor(shape.type, {1, shape.output[1], 1, 1});
    const bool has_bias = shape.bias && !plain;
    Convolved result{
        with(plain_convolution(tensor(shape.type, shape.input), tensor(shape.type, shape.filter), output),
             {{"BiasTensor", has_bias ? FieldValue(bias) : FieldValue()},
              {"Mode", shape.mirrored ? 0 : 1},
              {"Direction", shape.backward ? 1 : 0},
              {"Strides", FieldValue(list(shape.strides))},
              {"Dilations", FieldValue(list(shape.dilations))},
              {"StartPadding", FieldValue(list(shape.padding))},
              {"EndPadding", FieldValue(list(shape.padding))},
              {"GroupCount", shape.groups},
              {"FusedActivation", shape.relu && !plain ? activation("ACTIVATION_RELU", {}) : FieldValue()}}),
        {},
        {}};
    const auto verdict = operators::validate(result.descriptor, core::highest_feature_level);
    EXPECT_FALSE(verdict) << shape.name << ": " << verdict->message;
    Random random(3);
    result.inputs.emplace_back(tensor(shape.type, shape.input));
    result.inputs.emplace_back(tensor(shape.type, shape.filter));
    if (has_bias) {
        result.inputs.emplace_back(bias);
    }
    for (Tensor& input : result.inputs) {
        fill(input, [&] { return random.normal(); });
    }
    for (std::size_t run = 0; run < product::run_lanes; ++run) {
        Tensor& image = result.images.emplace_back(tensor(shape.type, shape.input));
        std::ranges::copy(result.inputs[0].buffer.bytes(), image.buffer.bytes().begin());
        core::with_type(shape.type, [&]<class T>() {
            for (T& element : image.as<T>()) {
                // Most elements move a little, some far, and some not at all.
                const float by = random.one_in(4) ? 0 : random.normal() * (random.one_in(50) ? 1.0F : 1e-3F);
                element = static_cast<T>(static_cast<float>(element) + by);
            }
        });
    }
    return result;
}

std::vector<double> values_in_order(const Tensor& tensor) {
    const Tensor packed = core::packed_copy(tensor);
    std::vector<double> values;
    core::with_type(packed.desc.data_type, [&]<class T>() {
        for (const T value : packed.as<T>()) {
            values.push_back(static_cast<double>(value));
        }
    });
    return values;
}

/// The bound that run_sums.h derives, from the same convolution of magnitudes, and one rounding of the result.
TEST(Runs, AreThoseThatAreComputedOneByOne) {
    for (const Shape& shape : shapes()) {
        const Convolved whole = convolved(shape);
        const Convolved plain = convolved(shape, true);
        const auto together = whole.outputs(whole.images);
        ASSERT_EQ(together.size(), whole.images.size()) << shape.name;
        const double terms = static_cast<double>(shape.filter[1] * shape.filter[2] * shape.filter[3]) *
                             (shape.backward ? static_cast<double>(shape.input[1]) : 1);
        const double unit = shape.type == DataType::float16 ? 0x1p-10 : 0x1p-23;
        const Tensor filter = magnitudes(whole.inputs[1]);
        double moved = 0;
        for (std::size_t run = 0; run < together.size(); ++run) {
            const auto alone = cpu::compute_outputs(whole.descriptor, whole.pointers(whole.images[run]));
            const Tensor by = magnitudes(whole.images[run], &whole.inputs[0]);
            const auto bound =
                cpu::compute_outputs(plain.descriptor, std::vector<const Tensor*>{&by, &filter, nullptr});
            const auto expected = values_in_order(alone[0]);
            const auto found = values_in_order(together[run][0]);
            const auto bounds = values_in_order(bound[0]);
            const auto of_reference =
                values_in_order(cpu::compute_outputs(whole.descriptor, whole.pointers(whole.inputs[0]))[0]);
            for (std::size_t i = 0; i < expected.size(); ++i) {
                const double error = (terms + 1) * 0x1p-24 * bounds[i] * (1 + 4 * unit);
                ASSERT_LE(std::fabs(found[i] - expected[i]),
                          error + unit * (std::fabs(expected[i]) + error) + 0x1p-24 * unit)
                    << shape.name << ", run " << run << ", element " << i;
                moved = std::max(moved, std::fabs(found[i] - of_reference[i]));
            }
        }
        EXPECT_GT(moved, 0.01) << shape.name;
    }
}

bool are_equal(const Tensor& a, const Tensor& b) {
    return values_in_order(a) == values_in_order(b);
}

TEST(Runs, DependNeitherOnTheProcessorNorOnOtherRuns) {
    for (const Shape& shape : shapes()) {
        const Convolved whole = convolved(shape);
        const auto together = whole.outputs(whole.images);
        for (const cpu::Registers widest : all_registers) {
            const WithRegisters registers(widest);
            const auto some = whole.outputs(std::span(whole.images).subspan(3, 5));
            ASSERT_EQ(some.size(), 5U);
            for (std::size_t run = 0; run < some.size(); ++run) {
                EXPECT_TRUE(are_equal(some[run][0], together[run + 3][0])) << shape.name;
            }
        }
    }
}

/// Differences of infinities say nothing.
TEST(Runs, AreComputedOneByOneBesideInfinity) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const bool in_reference : {false, true}) {
        Convolved whole = convolved(shapes()[1]);
        EXPECT_FALSE(whole.outputs(whole.images).empty());
        (in_reference ? whole.inputs[0] : whole.images[7]).as<float>()[40] = infinity;
        EXPECT_TRUE(whole.outputs(whole.images).empty());
    }
    Convolved overflowing = convolved(shapes()[1]);
    std::ranges::fill(overflowing.images[2].as<float>(), std::numeric_limits<float>::max());
    EXPECT_TRUE(overflowing.outputs(overflowing.images).empty());
}

TEST(Runs, NeedAFilterThatAllRunsHaveInCommon) {
    const Convolved whole = convolved(shapes()[0]);
    std::vector<double> for_runs;
    const auto of_reference = whole.pointers(whole.inputs[0]);
    (void)cpu::compute_reference(whole.descriptor, of_reference, cpu::Accumulation::fp32, &for_runs);
    EXPECT_TRUE(cpu::compute_outputs_of_runs(
                    whole.descriptor, {of_reference, for_runs, {true, true, false}, {of_reference}}, {}, [] {},
                    [](auto&&...) {})
                    .empty());
}

}  // namespace
}  // namespace dmlconform::tests::runs_test
