// engine/cpu/product and engine/cpu/kernels/product: products against their definitions, term by term, and what cases
// cannot decide: tolerances, instruction sets, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/core/float16.h"
#include "engine/cpu/product/places.h"
#include "engine/cpu/product/tile.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests {
namespace {

using core::DataType;
using core::Tensor;
using cpu::product::Axis;
using cpu::product::Factors;
using operators::Descriptor;
using operators::FieldKind;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float nan_float = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite_float = std::numeric_limits<float>::infinity();

core::TensorDesc real(core::Dimensions sizes) {
    return tensor(DataType::float32, std::move(sizes));
}

cpu::Reference reference_of(const Descriptor& descriptor, const std::vector<const Tensor*>& inputs) {
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    EXPECT_FALSE(verdict) << verdict->message;
    return cpu::compute_reference(descriptor, inputs);
}

/// What the comparison takes for element `i` of an output of FP32 numbers.
cpu::Interval accepted(const cpu::Reference& reference, std::size_t i) {
    const double value = double{values_of<float>(reference.outputs[0])[i]};
    constexpr double largest = std::numeric_limits<float>::max();
    const double from = std::clamp(value, -largest, largest);
    return {from - reference.slack[0].below[i], from + reference.slack[0].above[i], reference.slack[0].nan[i] != 0};
}

// ---- tiles and blocks --------------------------------------------------------------------------------------------

std::vector<double> random_numbers(Random& random, std::int64_t count) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    std::generate(numbers.begin(), numbers.end(), [&] { return double{random.normal()}; });
    return numbers;
}

/// Sums may not depend on the processor.
TEST(ProductTile, EveryInstructionSetComputesTheSame) {
    using cpu::product::tile_columns;
    using cpu::product::tile_rows;
    Random random(1);
    for (const std::int64_t depth : {0, 1, 2, 7, 256, 1000}) {
        const auto left = random_numbers(random, std::max<std::int64_t>(1, tile_rows * depth));
        const auto right = random_numbers(random, std::max<std::int64_t>(1, tile_columns * depth));
        constexpr std::int64_t stride = tile_columns + 3;
        std::vector<double> one = random_numbers(random, tile_rows * stride);
        std::vector<double> other = one;
        cpu::product::portable_tile()(left.data(), right.data(), depth, one.data(), stride);
        cpu::product::fastest_tile()(left.data(), right.data(), depth, other.data(), stride);
        EXPECT_EQ(one, other) << depth;
    }
}

/// Whatever the sizes are to those of tiles and blocks, each sum takes its terms in the order of k.
TEST(ProductBlocks, SumsTakeTheirTermsInOrder) {
    Random random(2);
    const std::array<cpu::product::Shape, 10> shapes{{{1, 1, 1, 1},
                                                      {3, 4, 5, 8},
                                                      {2, 5, 3, 9},
                                                      {1, 7, 256, 7},
                                                      {1, 3, 257, 129},
                                                      {1, 2, 5, 260},
                                                      {1, 513, 3, 5},
                                                      {2, 6, 600, 130},
                                                      {1, 1, 700, 1},
                                                      {4, 33, 17, 128}}};
    for (const auto& shape : shapes) {
        // The same left matrix for two batches each.
        const std::int64_t left_batches = shape.batches % 2 == 0 ? shape.batches / 2 : shape.batches;
        const cpu::product::MatrixFactors factors(
            shape, {random_numbers(random, left_batches * shape.rows * shape.depth)},
            {random_numbers(random, shape.batches * shape.depth * shape.columns)});
        std::vector<int> taken(static_cast<std::size_t>(shape.batches * shape.rows * shape.columns));
        cpu::product::multiply(factors, true, [&](const cpu::product::Sums& sums) {
            for (std::int64_t i = 0; i < sums.count; ++i) {
                double value = 0;
                double bound = 0;
                for (std::int64_t k = 0; k < shape.depth; ++k) {
                    const double a = factors.left().values[static_cast<std::size_t>(
                        ((sums.batch % left_batches) * shape.rows + sums.row) * shape.depth + k)];
                    const double b = factors.right().values[static_cast<std::size_t>(
                        (sums.batch * shape.depth + k) * shape.columns + sums.column + i)];
                    value += a * b;
                    bound += std::fabs(a) * std::fabs(b);
                }
                ASSERT_EQ(sums.values[i], value);
                ASSERT_EQ(sums.bounds[i], bound);
                ++taken[static_cast<std::size_t>((sums.batch * shape.rows + sums.row) * shape.columns + sums.column +
                                                 i)];
            }
        });
        EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), static_cast<std::ptrdiff_t>(taken.size()));
    }
}

/// Each tap at each place, by the definition.
TEST(ProductPlaces, TapsMeetElements) {
    Random random(3);
    for (int round = 0; round < 2000; ++round) {
        Axis axis;
        axis.elements = random.pick(1, 7);
        axis.taps = random.pick(1, 4);
        axis.stride = random.pick(1, 4);
        axis.dilation = random.pick(1, 3);
        axis.padding = random.pick(0, 6);
        axis.places = random.pick(1, 9);
        axis.output_padding = random.pick<std::int64_t>(0, axis.places - 1);
        axis.backward = random.one_in(2);
        for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
            const auto meetings = cpu::product::meetings_of(axis, tap);
            for (std::int64_t place = 0; place < axis.places; ++place) {
                std::int64_t wanted = Factors::nowhere;
                for (std::int64_t element = 0; element < axis.elements; ++element) {
                    const std::int64_t from = axis.backward ? element : place;
                    const std::int64_t to = axis.backward ? place : element;
                    if (from * axis.stride + tap * axis.dilation - axis.padding == to &&
                        place < axis.places - axis.output_padding) {
                        wanted = element;
                    }
                }
                ASSERT_EQ(meetings.element_at(place), wanted);
            }
        }
    }
}

// ---- operators against their definitions -------------------------------------------------------------------------

Tensor random_tensor(Random& random, const core::TensorDesc& desc) {
    return random.filled<float>(desc, [&] { return random.normal(); });
}

TEST(ProductGemm, IsItsDefinition) {
    Random random(4);
    for (int round = 0; round < 150; ++round) {
        const std::size_t rank = random.pick<std::size_t>(2, 4);
        core::Dimensions batches = random.sizes(rank - 2, 3, 6);
        const std::uint32_t m = random.pick(1u, 12u);
        const std::uint32_t k = random.pick(1u, 20u);
        const std::uint32_t n = random.pick(1u, 12u);
        const bool trans_a = random.one_in(2);
        const bool trans_b = random.one_in(2);
        const auto sizes = [&](std::uint32_t rows, std::uint32_t columns, bool transposed) {
            core::Dimensions all = batches;
            all.push_back(transposed ? columns : rows);
            all.push_back(transposed ? rows : columns);
            return all;
        };
        const auto layout = [&](const core::Dimensions& of, FieldKind kind) {
            return random.layout(DataType::float32, of, kind);
        };
        const Tensor a = random_tensor(random, layout(sizes(m, k, trans_a), FieldKind::input));
        const Tensor b = random_tensor(random, layout(sizes(k, n, trans_b), FieldKind::input));
        const Tensor c = random_tensor(random, layout(sizes(m, n, false), FieldKind::input));
        const core::TensorDesc out = layout(sizes(m, n, false), FieldKind::output);
        const bool with_c = !random.one_in(3);
        const float alpha = random.normal();
        const float beta = random.normal();
        const Descriptor gemm =
            describe("GEMM", {{"ATensor", a.desc},
                              {"BTensor", b.desc},
                              {"CTensor", with_c ? operators::FieldValue(c.desc) : operators::FieldValue()},
                              {"OutputTensor", out},
                              {"TransA", trans_a ? 1 : 0},
                              {"TransB", trans_b ? 1 : 0},
                              {"Alpha", alpha},
                              {"Beta", beta}});
        const auto values = values_of<float>(reference_of(gemm, {&a, &b, with_c ? &c : nullptr}).outputs[0]);
        const auto as = values_of<float>(a);
        const auto bs = values_of<float>(b);
        const auto cs = values_of<float>(c);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t column = i % n;
            const std::size_t row = i / n % m;
            const std::size_t batch = i / n / m;
            double sum = 0;
            for (std::size_t x = 0; x < k; ++x) {
                sum += double{as[(batch * m * k) + (trans_a ? x * m + row : row * k + x)]} *
                       double{bs[(batch * k * n) + (trans_b ? column * k + x : x * n + column)]};
            }
            ASSERT_EQ(values[i], static_cast<float>(double{alpha} * sum + (with_c ? double{beta} * double{cs[i]} : 0)));
        }
    }
}

/// Sizes of a random convolution, and its attributes.
struct RandomConvolution {
    core::Dimensions input;
    core::Dimensions filter;
    core::Dimensions output;
    std::vector<std::int64_t> strides;
    std::vector<std::int64_t> dilations;
    std::vector<std::int64_t> start_padding;
    std::vector<std::int64_t> end_padding;
    std::vector<std::int64_t> output_padding;
    std::uint32_t groups = 1;
    bool backward = false;
    bool flipped = false;

    RandomConvolution(Random& random, bool may_be_backward, std::size_t rank)
        : groups(random.pick(1u, 3u)), backward(may_be_backward && random.one_in(2)), flipped(random.one_in(2)) {
        const std::uint32_t of_group = random.pick(1u, 3u);
        filter = {groups * random.pick(1u, 3u), of_group};
        input = {random.pick(1u, 2u), backward ? filter[0] : groups * of_group};
        output = {input[0], backward ? groups * of_group : filter[0]};
        while (input.size() < rank) {
            strides.push_back(random.pick(1, 3));
            dilations.push_back(random.pick(1, 2));
            start_padding.push_back(random.pick(0, 3));
            end_padding.push_back(random.pick(0, 3));
            output_padding.push_back(may_be_backward ? random.pick(0, 2) : 0);
            filter.push_back(random.pick(1u, 3u));
            const std::int64_t reach = (filter.back() - 1) * dilations.back() + 1;
            const std::int64_t padding = start_padding.back() + end_padding.back();
            std::int64_t inner = 0;
            while (inner < 1) {
                input.resize(filter.size() - 1);
                input.push_back(random.pick(1u, 7u));
                const std::int64_t slid = input.back() + padding - reach;
                inner = backward   ? (input.back() - 1) * strides.back() + reach - padding
                        : slid < 0 ? 0
                                   : slid / strides.back() + 1;
            }
            output.push_back(static_cast<std::uint32_t>(inner + output_padding.back()));
        }
    }

    [[nodiscard]] Descriptor describe_as(std::string_view name, const std::vector<Setting>& tensors,
                                         std::size_t inserted = 0) const {
        const auto list = [inserted](const std::vector<std::int64_t>& numbers, std::uint32_t otherwise) {
            std::vector<std::uint32_t> entries(inserted, otherwise);
            entries.insert(entries.end(), numbers.begin(), numbers.end());
            return operators::FieldValue(entries);
        };
        const Descriptor descriptor = with(describe(name, tensors), {{"Strides", list(strides, 1)},
                                                                     {"Dilations", list(dilations, 1)},
                                                                     {"StartPadding", list(start_padding, 0)},
                                                                     {"EndPadding", list(end_padding, 0)},
                                                                     {"GroupCount", groups}});
        return name == "CONVOLUTION" ? with(descriptor, {{"OutputPadding", list(output_padding, 0)},
                                                         {"Direction", backward ? 1 : 0},
                                                         {"Mode", flipped ? 0 : 1}})
                                     : descriptor;
    }

    /// Calls visit(output, input, filter) with the row-major numbers of the elements of each term.
    template <class Visit>
    void for_each_term(const Visit& visit) const {
        const core::Dimensions moving(backward ? input : output);
        for (std::size_t w = 0; w < count_of(filter); ++w) {
            const auto tap = coordinates_of(w, filter);
            const std::size_t group = tap[0] / (filter[0] / groups);
            for (std::size_t at = 0; at < count_of(moving); ++at) {
                const auto place = coordinates_of(at, moving);
                if (place[1] != tap[0]) {
                    continue;
                }
                std::vector<std::size_t> other{place[0], group * filter[1] + tap[1]};
                bool exists = true;
                for (std::size_t d = 2; d < place.size(); ++d) {
                    const std::int64_t k = static_cast<std::int64_t>(flipped ? filter[d] - 1 - tap[d] : tap[d]);
                    const std::int64_t to = static_cast<std::int64_t>(place[d]) * strides[d - 2] +
                                            k * dilations[d - 2] - start_padding[d - 2];
                    const std::int64_t places = output[d] - output_padding[d - 2];
                    exists = exists && to >= 0 && to < (backward ? places : std::int64_t{input[d]}) &&
                             (backward || static_cast<std::int64_t>(place[d]) < places);
                    other.push_back(static_cast<std::size_t>(to));
                }
                if (exists) {
                    const std::size_t from = backward ? at : index_of(other, input);
                    visit(backward ? index_of(other, output) : at, from, w);
                }
            }
        }
    }
};

/// Forward as a sum over what a place meets, backward as what every element adds: the definitions.
TEST(ProductConvolution, IsItsDefinition) {
    Random random(5);
    for (int round = 0; round < 300; ++round) {
        const std::size_t rank = random.pick<std::size_t>(3, 5);
        const RandomConvolution sizes(random, true, rank);
        // Small integers: sums are exact in whatever order.
        const auto integer = [&] { return static_cast<float>(random.pick(-9, 9)); };
        core::Dimensions bias_sizes(rank, 1);
        bias_sizes[1] = sizes.output[1];
        const Tensor input =
            random.filled<float>(random.layout(DataType::float32, sizes.input, FieldKind::input), integer);
        const Tensor filter =
            random.filled<float>(random.layout(DataType::float32, sizes.filter, FieldKind::input), integer);
        const Tensor bias =
            random.filled<float>(random.layout(DataType::float32, bias_sizes, FieldKind::input), integer);
        const bool with_bias = random.one_in(2);
        const Descriptor convolution = sizes.describe_as(
            "CONVOLUTION", {{"InputTensor", input.desc},
                            {"FilterTensor", filter.desc},
                            {"BiasTensor", with_bias ? operators::FieldValue(bias.desc) : operators::FieldValue()},
                            {"OutputTensor", random.layout(DataType::float32, sizes.output, FieldKind::output)}});
        const auto x = values_of<float>(input);
        const auto w = values_of<float>(filter);
        const auto b = values_of<float>(bias);
        std::vector<float> wanted(count_of(sizes.output));
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            wanted[i] = with_bias ? b[coordinates_of(i, sizes.output)[1]] : 0;
        }
        sizes.for_each_term([&](std::size_t to, std::size_t from, std::size_t tap) { wanted[to] += x[from] * w[tap]; });
        const auto reference = reference_of(convolution, {&input, &filter, with_bias ? &bias : nullptr});
        ASSERT_EQ(values_of<float>(reference.outputs[0]), wanted) << "round " << round;
        // No rounding is allowed where none is needed.
        ASSERT_EQ(*std::max_element(reference.slack[0].above.begin(), reference.slack[0].above.end()), 0);
    }
}

TEST(ProductIntegers, ConvolutionIsItsDefinition) {
    Random random(6);
    for (int round = 0; round < 150; ++round) {
        const std::size_t rank = random.pick<std::size_t>(3, 4);
        RandomConvolution sizes(random, false, rank);
        sizes.flipped = false;
        const auto byte = [&] { return static_cast<std::uint8_t>(random.pick(0, 255)); };
        core::Dimensions zero_sizes(rank, 1);
        const Tensor input =
            random.filled<std::uint8_t>(random.layout(DataType::uint8, sizes.input, FieldKind::input), byte);
        const Tensor filter =
            random.filled<std::uint8_t>(random.layout(DataType::int8, sizes.filter, FieldKind::input), byte);
        const Tensor zero = random.filled<std::uint8_t>(tensor(DataType::uint8, zero_sizes), byte);
        zero_sizes[1] = sizes.filter[0];
        const Tensor zeros =
            random.filled<std::uint8_t>(random.layout(DataType::int8, zero_sizes, FieldKind::input), byte);
        const Descriptor convolution =
            sizes.describe_as("CONVOLUTION_INTEGER",
                              {{"InputTensor", input.desc},
                               {"InputZeroPointTensor", zero.desc},
                               {"FilterTensor", filter.desc},
                               {"FilterZeroPointTensor", zeros.desc},
                               {"OutputTensor", random.layout(DataType::int32, sizes.output, FieldKind::output)}},
                              4 - rank);
        const auto x = values_of<std::uint8_t>(input);
        const auto w = values_of<std::int8_t>(filter);
        const auto z = values_of<std::int8_t>(zeros);
        std::vector<std::int32_t> wanted(count_of(sizes.output));
        sizes.for_each_term([&](std::size_t to, std::size_t from, std::size_t tap) {
            wanted[to] +=
                (x[from] - values_of<std::uint8_t>(zero)[0]) * (w[tap] - z[tap / (w.size() / sizes.filter[0])]);
        });
        ASSERT_EQ(values_of<std::int32_t>(reference_of(convolution, {&input, &zero, &filter, &zeros}).outputs[0]),
                  wanted);
    }
}

/// Large enough for several threads and blocks, and the same as one sum after the other.
TEST(ProductKernels, DoNotDependOnThreads) {
    Random random(7);
    const Tensor a = random_tensor(random, real({600, 300}));
    const Tensor b = random_tensor(random, real({300, 400}));
    const Descriptor gemm = describe("GEMM", {{"ATensor", a.desc},
                                              {"BTensor", b.desc},
                                              {"OutputTensor", real({600, 400})},
                                              {"TransA", 0},
                                              {"TransB", 0},
                                              {"Alpha", 1},
                                              {"Beta", 0}});
    const auto values = values_of<float>(reference_of(gemm, {&a, &b, nullptr}).outputs[0]);
    const auto as = values_of<float>(a);
    const auto bs = values_of<float>(b);
    for (std::size_t i = 0; i < values.size(); i += 101) {
        double sum = 0;
        for (std::size_t k = 0; k < 300; ++k) {
            sum += double{as[i / 400 * 300 + k]} * double{bs[k * 400 + i % 400]};
        }
        ASSERT_EQ(values[i], static_cast<float>(sum));
    }
}

// ---- tolerances --------------------------------------------------------------------------------------------------

struct Gemm {
    std::vector<float> a;
    std::vector<float> b;
    std::vector<float> c = {};
    float alpha = 1;
    float beta = 1;

    /// Of one row and one column.
    [[nodiscard]] cpu::Reference reference(operators::FieldValue activation = {}) const {
        const auto depth = static_cast<std::uint32_t>(a.size());
        const Tensor left = tensor_of<float>(real({1, depth}), a);
        const Tensor right = tensor_of<float>(real({depth, 1}), b);
        const Tensor addend = tensor_of<float>(real({1, 1}), c.empty() ? std::vector<float>{0} : c);
        const Descriptor descriptor =
            describe("GEMM", {{"ATensor", left.desc},
                              {"BTensor", right.desc},
                              {"CTensor", c.empty() ? operators::FieldValue() : operators::FieldValue(addend.desc)},
                              {"OutputTensor", real({1, 1})},
                              {"TransA", 0},
                              {"TransB", 0},
                              {"Alpha", alpha},
                              {"Beta", beta},
                              {"FusedActivation", std::move(activation)}});
        return reference_of(descriptor, {&left, &right, c.empty() ? nullptr : &addend});
    }
};

/// What FP32 has if it takes the terms in some order: factor on the terms or on the sum, addend first or last, products
/// rounded or not, rounding to nearest or towards zero.
std::vector<float> legal_results(const Gemm& gemm) {
    const auto truncated = [](double exact) {
        const auto nearest = static_cast<float>(exact);
        return std::fabs(double{nearest}) > std::fabs(exact) ? std::nextafter(nearest, 0.0F) : nearest;
    };
    const auto to_nearest = [](double exact) { return static_cast<float>(exact); };
    const std::function<float(double)> roundings[] = {to_nearest, truncated};
    std::vector<float> results;
    for (const auto& round : roundings) {
        for (int way = 0; way < 24; ++way) {
            const bool factor_first = way % 2 == 1;
            const bool addend_first = way / 2 % 2 == 1;
            const bool fused = way / 4 % 2 == 1;
            const int order = way / 8;
            const float addend = gemm.c.empty() ? 0 : round(double{gemm.beta} * double{gemm.c[0]});
            float sum = addend_first && factor_first ? addend : 0;
            std::vector<float> pairs;
            for (std::size_t i = 0; i < gemm.a.size(); ++i) {
                const std::size_t k = order == 1 ? gemm.a.size() - 1 - i : i;
                const float a = factor_first ? round(double{gemm.alpha} * double{gemm.a[k]}) : gemm.a[k];
                const double product = double{a} * double{gemm.b[k]};
                if (order == 2) {
                    pairs.push_back(round(product));
                } else {
                    sum = fused ? round(product + double{sum}) : round(double{round(product)} + double{sum});
                }
            }
            while (pairs.size() > 1) {
                std::vector<float> halves;
                for (std::size_t i = 0; i < pairs.size(); i += 2) {
                    halves.push_back(i + 1 < pairs.size() ? round(double{pairs[i]} + double{pairs[i + 1]}) : pairs[i]);
                }
                pairs = std::move(halves);
            }
            sum = pairs.empty() ? sum : round(double{sum} + double{pairs[0]});
            sum = factor_first ? sum : round(double{gemm.alpha} * double{sum});
            results.push_back(addend_first && factor_first ? sum : round(double{sum} + double{addend}));
        }
    }
    return results;
}

TEST(ProductTolerance, HasEveryLegalImplementation) {
    Random random(8);
    for (int round = 0; round < 400; ++round) {
        Gemm gemm;
        const int depth = random.pick(1, 40);
        const float offset = random.one_in(2) ? 0.0F : 3.0F;
        for (int k = 0; k < depth; ++k) {
            gemm.a.push_back(random.normal() + offset);
            gemm.b.push_back(random.normal() * (random.one_in(10) ? 1e6F : 1.0F));
        }
        gemm.alpha = random.one_in(2) ? 1.0F : random.normal();
        if (random.one_in(2)) {
            gemm.c = {random.normal() * 10};
            gemm.beta = random.one_in(2) ? 1.0F : random.normal();
        }
        const auto reference = gemm.reference();
        const cpu::Interval range = accepted(reference, 0);
        double magnitude = gemm.c.empty() ? 0 : std::fabs(double{gemm.beta} * double{gemm.c[0]});
        for (std::size_t k = 0; k < gemm.a.size(); ++k) {
            magnitude += std::fabs(double{gemm.alpha} * double{gemm.a[k]} * double{gemm.b[k]});
        }
        for (const float result : legal_results(gemm)) {
            ASSERT_TRUE(range.contains(double{result})) << result << " of depth " << depth;
        }
        // No wider than what is counted: a rounding of the magnitude for each step.
        EXPECT_LE(range.high - range.low, 2.2 * (depth + 4) * 0x1p-23 * magnitude);
    }
}

/// FP32 has 0 or 1 for 1e8 + 1 - 1e8, depending on the order.
TEST(ProductTolerance, SumsInAnyOrder) {
    const auto reference = Gemm{.a = {1e8F, 1, -1e8F}, .b = {1, 1, 1}}.reference();
    EXPECT_EQ(values_of<float>(reference.outputs[0])[0], 1);
    EXPECT_LE(accepted(reference, 0).low, 0);
    EXPECT_LE(accepted(reference, 0).high, 64);
    const auto exact = Gemm{.a = {1, 2, 3}, .b = {4, 5, 6}, .c = {0.5F}, .alpha = 0.5F, .beta = -2}.reference();
    EXPECT_EQ(accepted(exact, 0).low, 15);
    EXPECT_EQ(accepted(exact, 0).high, 15);
}

TEST(ProductTolerance, SumsMayOverflow) {
    const auto reference = Gemm{.a = {3e38F, 3e38F}, .b = {1, 1}, .alpha = 0.25F}.reference();
    EXPECT_EQ(values_of<float>(reference.outputs[0])[0], 1.5e38F);
    EXPECT_EQ(accepted(reference, 0).high, infinity);
    const auto opposite = Gemm{.a = {3e38F, 3e38F, -3e38F, -3e38F}, .b = {1, 1, 1, 1}}.reference();
    EXPECT_EQ(values_of<float>(opposite.outputs[0])[0], 0);
    EXPECT_TRUE(accepted(opposite, 0).nan) << "infinity - infinity";
    const auto addend = Gemm{.a = {3e38F}, .b = {1}, .c = {3e38F}, .alpha = -1}.reference();
    EXPECT_EQ(accepted(addend, 0).low, 0);
    EXPECT_EQ(accepted(addend, 0).high, 0);
}

TEST(ProductTolerance, NaNIsWhereTheFormulaHasIt) {
    for (const Gemm& gemm : {Gemm{.a = {nan_float}, .b = {0}}, Gemm{.a = {infinite_float}, .b = {0}},
                             Gemm{.a = {infinite_float, -infinite_float}, .b = {1, 1}},
                             Gemm{.a = {1}, .b = {1}, .c = {infinite_float}, .beta = 0},
                             Gemm{.a = {infinite_float}, .b = {1}, .alpha = 0}}) {
        const auto reference = gemm.reference();
        EXPECT_TRUE(std::isnan(values_of<float>(reference.outputs[0])[0]));
    }
    const auto certain = Gemm{.a = {infinite_float, 1}, .b = {1, 1}}.reference();
    EXPECT_EQ(values_of<float>(certain.outputs[0])[0], infinite_float);
    EXPECT_EQ(certain.slack[0].nan[0], 0);
    EXPECT_EQ(certain.slack[0].finite[0], 0) << "no finite number is right";
}

/// Subnormal numbers may count as zero.
TEST(ProductTolerance, SubnormalNumbers) {
    const float small = 0x1p-130F;
    const auto input = Gemm{.a = {small}, .b = {0x1p20F}}.reference();
    EXPECT_LE(accepted(input, 0).low, 0);
    EXPECT_LT(accepted(input, 0).high, 0x1p-100);
    const auto product = Gemm{.a = {0x1p-70F, 0x1p-70F}, .b = {0x1p-60F, 0x1p-60F}}.reference();
    EXPECT_LE(accepted(product, 0).low, 0);
}

/// A filter's infinity at a place that lies on padding: implementations may multiply it by zero, or leave it out.
TEST(ProductTolerance, NonFiniteFiltersOnPadding) {
    const Tensor input = tensor_of<float>(real({1, 1, 2}), {1, 2});
    const Tensor filter = tensor_of<float>(real({1, 1, 2}), {infinite_float, 3});
    const auto convolution = [](bool backward, std::uint32_t out) {
        return describe("CONVOLUTION", {{"InputTensor", real({1, 1, 2})},
                                        {"FilterTensor", real({1, 1, 2})},
                                        {"OutputTensor", real({1, 1, out})},
                                        {"Mode", 1},
                                        {"Direction", backward ? 1 : 0},
                                        {"Strides", {1}},
                                        {"Dilations", {1}},
                                        {"StartPadding", {backward ? 0 : 1}},
                                        {"EndPadding", {0}},
                                        {"OutputPadding", {0}},
                                        {"GroupCount", 1}});
    };
    const auto forward = reference_of(convolution(false, 2), {&input, &filter, nullptr});
    EXPECT_EQ(values_of<float>(forward.outputs[0]), (std::vector<float>{3, infinite_float}));
    EXPECT_EQ(forward.slack[0].nan, (std::vector<std::uint8_t>{1, 0}));
    const auto backward = reference_of(convolution(true, 3), {&input, &filter, nullptr});
    EXPECT_EQ(values_of<float>(backward.outputs[0]), (std::vector<float>{infinite_float, infinite_float, 6}));
    EXPECT_EQ(backward.slack[0].nan, (std::vector<std::uint8_t>{0, 0, 1}));
}

operators::FieldValue fused(std::string_view name) {
    return std::make_shared<const Descriptor>(describe(name, {}));
}

/// The activation is applied to the range of the sum.
TEST(ProductTolerance, OfFusedActivations) {
    const auto reference = Gemm{.a = {1e8F, 1, -1e8F}, .b = {1, 1, 1}}.reference(fused("ACTIVATION_RELU"));
    EXPECT_EQ(accepted(reference, 0).low, 0) << "not below zero";
    EXPECT_GT(accepted(reference, 0).high, 1);
    const auto sigmoid = Gemm{.a = {1, 2}, .b = {1, 0.5F}}.reference(fused("ACTIVATION_SIGMOID"));
    EXPECT_TRUE(accepted(sigmoid, 0).contains(1 / (1 + std::exp(-2.0))));
    EXPECT_LT(accepted(sigmoid, 0).high - accepted(sigmoid, 0).low, 1e-5);
}

TEST(ProductTolerance, OfFusedSoftmaxes) {
    const Tensor a = tensor_of<float>(real({1, 2}), {1, 1});
    const Tensor b = tensor_of<float>(real({2, 3}), {0.5F, 1, -1, 0.25F, 1.5F, 2});
    const Descriptor gemm = describe("GEMM", {{"ATensor", a.desc},
                                              {"BTensor", b.desc},
                                              {"OutputTensor", real({1, 3})},
                                              {"TransA", 0},
                                              {"TransB", 0},
                                              {"Alpha", 1},
                                              {"Beta", 0},
                                              {"FusedActivation", fused("ACTIVATION_SOFTMAX")}});
    const auto reference = reference_of(gemm, {&a, &b, nullptr});
    const std::array<double, 3> x{0.75, 2.5, 1};
    const double sum = std::exp(x[0]) + std::exp(x[1]) + std::exp(x[2]);
    for (std::size_t i = 0; i < 3; ++i) {
        const double exact = std::exp(x[i]) / sum;
        EXPECT_EQ(values_of<float>(reference.outputs[0])[i], static_cast<float>(exact));
        EXPECT_TRUE(accepted(reference, i).contains(exact * (1 + 1e-7)));
        EXPECT_LT(accepted(reference, i).high - accepted(reference, i).low, 1e-5);
    }
}

// ---- numbers that integers stand for -----------------------------------------------------------------------------

struct IntegerToFloat {
    DataType type = DataType::uint8;
    DataType output = DataType::float32;
    bool has_bias = false;

    [[nodiscard]] Descriptor describe_depth(std::uint32_t depth) const {
        return describe(
            "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
            {{"ATensor", tensor(type, {1, depth})},
             {"AScaleTensor", tensor(output, {1})},
             {"AZeroPointTensor", tensor(type, {1})},
             {"BTensor", tensor(type, {depth, 1})},
             {"BScaleTensor", tensor(output, {1})},
             {"BZeroPointTensor", tensor(type, {1})},
             {"BiasTensor", has_bias ? operators::FieldValue(tensor(output, {1, 1})) : operators::FieldValue()},
             {"OutputTensor", tensor(output, {1, 1})}});
    }
};

/// In FP32 each number, the difference from its zero point and the product with its scale are rounded.
TEST(ProductTolerance, WideIntegersAreRoundedFirst) {
    const Descriptor descriptor = IntegerToFloat{.type = DataType::int32}.describe_depth(2);
    const Tensor a = tensor_of<std::int32_t>(tensor(DataType::int32, {1, 2}), {16777217, 16777219});
    const Tensor b = tensor_of<std::int32_t>(tensor(DataType::int32, {2, 1}), {1, -1});
    const Tensor one = tensor_of<float>(real({1}), {1});
    const Tensor zero = tensor_of<std::int32_t>(tensor(DataType::int32, {1}), {0});
    const auto reference = reference_of(descriptor, {&a, &one, &zero, &b, &one, &zero, nullptr});
    EXPECT_EQ(values_of<float>(reference.outputs[0])[0], -2);
    EXPECT_TRUE(accepted(reference, 0).contains(-4)) << "16777216 - 16777220";
    EXPECT_FALSE(accepted(reference, 0).contains(1000));
}

/// Numbers and their product may be FLOAT16 tensors before the bias is added.
TEST(ProductTolerance, Float16TensorsOnTheWay) {
    const Descriptor descriptor = IntegerToFloat{.output = DataType::float16, .has_bias = true}.describe_depth(2);
    const auto half = [](float value) { return core::Float16(value); };
    const Tensor a = tensor_of<std::uint8_t>(tensor(DataType::uint8, {1, 2}), {100, 3});
    const Tensor b = tensor_of<std::uint8_t>(tensor(DataType::uint8, {2, 1}), {255, 1});
    const Tensor scale = tensor_of<core::Float16>(tensor(DataType::float16, {1}), {half(0.1F)});
    const Tensor zero = tensor_of<std::uint8_t>(tensor(DataType::uint8, {1}), {0});
    const Tensor bias = tensor_of<core::Float16>(tensor(DataType::float16, {1, 1}), {half(-254)});
    const auto reference = reference_of(descriptor, {&a, &scale, &zero, &b, &scale, &zero, &bias});
    const auto value = static_cast<double>(values_of<core::Float16>(reference.outputs[0])[0]);
    EXPECT_NEAR(value, 0.9, 0.1);
    EXPECT_GE(reference.slack[0].below[0], value - 0.674316) << "what DirectML has";
    EXPECT_LT(reference.slack[0].below[0], 2);
}

}  // namespace
}  // namespace dmlconform::tests
