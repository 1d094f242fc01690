// Tests of engine/cpu/product: products against their definitions, term by term, with any number of threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::product_definitions_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;
using operators::FieldKind;

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

    /// Calls visit(output, input, filter) with the row-major indices of the elements of each term.
    template <class Visit>
    void for_each_term(const Visit& visit) const {
        const core::Dimensions moving(backward ? input : output);
        for (std::size_t w = 0; w < count_of(filter); ++w) {
            const auto tap = coordinates_of(w, filter);
            const std::size_t group = tap[0] / (filter[0] / groups);
            for (std::size_t at = 0; at < count_of(moving); ++at) {
                const auto coordinates = coordinates_of(at, moving);
                if (coordinates[1] != tap[0]) {
                    continue;
                }
                std::vector<std::size_t> other{coordinates[0], group * filter[1] + tap[1]};
                bool exists = true;
                for (std::size_t d = 2; d < coordinates.size(); ++d) {
                    const std::int64_t k = static_cast<std::int64_t>(flipped ? filter[d] - 1 - tap[d] : tap[d]);
                    const std::int64_t to = static_cast<std::int64_t>(coordinates[d]) * strides[d - 2] +
                                            k * dilations[d - 2] - start_padding[d - 2];
                    const std::int64_t covered = output[d] - output_padding[d - 2];
                    exists = exists && to >= 0 && to < (backward ? covered : std::int64_t{input[d]}) &&
                             (backward || static_cast<std::int64_t>(coordinates[d]) < covered);
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

/// The definitions: forward, an output element sums over its window; backward, every input element adds to its window.
TEST(ProductConvolution, IsItsDefinition) {
    Random random(5);
    for (int round = 0; round < 300; ++round) {
        const std::size_t rank = random.pick<std::size_t>(3, 5);
        const RandomConvolution sizes(random, true, rank);
        // Small integers make sums exact in any order.
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
        // Exact sums must have no slack.
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

/// Large enough for several threads and blocks; the result equals sequential sums.
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

}  // namespace
}  // namespace dmlconform::tests::product_definitions_test
