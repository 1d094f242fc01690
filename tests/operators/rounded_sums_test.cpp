// Tests of engine/operators/rounded_sums: how many terms sums have, by operator.
#include "engine/operators/rounded_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/operators/enumerations.h"
#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::rounded_sums_test {
namespace {

using core::DataType;
using core::Dimensions;
using operators::Descriptor;
using testing::ElementsAre;

core::TensorDesc of(const Dimensions& sizes) {
    return tensor(DataType::float32, sizes);
}

/// The roundings of each sum. The first has 32 more, for operations beside the sums.
std::vector<double> roundings(const Descriptor& descriptor) {
    std::vector<double> numbers;
    for (const core::RoundedSum& sum : operators::rounded_sums(descriptor)) {
        numbers.push_back(sum.roundings);
    }
    return numbers;
}

Descriptor gemm(const Dimensions& a, const Dimensions& b, std::uint32_t transposed, double alpha) {
    return describe("GEMM", {{"ATensor", of(a)},
                             {"BTensor", of(b)},
                             {"OutputTensor", of({1, 1, 3, 5})},
                             {"TransA", transposed},
                             {"TransB", 0},
                             {"Alpha", alpha},
                             {"Beta", 0.0}});
}

TEST(RoundedSums, OfProducts) {
    EXPECT_THAT(roundings(gemm({1, 1, 3, 100}, {1, 1, 100, 5}, 0, 1)), ElementsAre(132));
    EXPECT_THAT(roundings(gemm({1, 1, 100, 3}, {1, 1, 100, 5}, 1, 1)), ElementsAre(132));
    EXPECT_EQ(operators::rounded_sums(gemm({1, 1, 3, 100}, {1, 1, 100, 5}, 0, 1))[0].of_each_term, 1);
    EXPECT_EQ(operators::rounded_sums(gemm({1, 1, 3, 100}, {1, 1, 100, 5}, 0, 0.5))[0].of_each_term, 2)
        << "Alpha may be applied to each term";
}

TEST(RoundedSums, OfConvolutions) {
    const auto groups_of = [](std::uint32_t direction, std::uint32_t groups) {
        return with(plain_convolution(of({1, 8, 6, 6}), of({12, 4, 3, 3}), of({1, 12, 4, 4})),
                    {{"Direction", direction}, {"GroupCount", groups}});
    };
    EXPECT_THAT(roundings(groups_of(0, 2)), ElementsAre(4 * 9 + 32));
    EXPECT_THAT(roundings(groups_of(1, 2)), ElementsAre(6 * 9 + 32)) << "backward, over the output channels of a group";
}

TEST(RoundedSums, OfSets) {
    const auto reduce = [](operators::ReduceFunction function) {
        return describe("REDUCE", {{"Function", static_cast<std::uint32_t>(function)},
                                   {"InputTensor", of({2, 3, 5, 7})},
                                   {"OutputTensor", of({2, 1, 5, 1})},
                                   {"Axes", {1, 3}}});
    };
    EXPECT_THAT(roundings(reduce(operators::ReduceFunction::sum)), ElementsAre(21 + 32));
    EXPECT_THAT(roundings(reduce(operators::ReduceFunction::log_sum_exp)), ElementsAre(3 * 21 + 32));
    const auto normalize = [](std::uint32_t cross_channel) {
        return describe("MEAN_VARIANCE_NORMALIZATION", {{"InputTensor", of({2, 3, 5, 7})},
                                                        {"OutputTensor", of({2, 3, 5, 7})},
                                                        {"CrossChannel", cross_channel},
                                                        {"NormalizeVariance", 1},
                                                        {"Epsilon", 1e-5}});
    };
    EXPECT_THAT(roundings(normalize(0)), ElementsAre(2 * 35 + 32)) << "a mean and a variance";
    EXPECT_THAT(roundings(normalize(1)), ElementsAre(2 * 105 + 32));
}

/// Each step has sums whose terms the step before computed.
TEST(RoundedSums, OfRecurrentNetworks) {
    const Descriptor rnn = describe("RNN", {{"InputTensor", of({1, 3, 8, 16})},
                                            {"WeightTensor", of({1, 1, 64, 16})},
                                            {"RecurrenceTensor", of({1, 1, 64, 64})},
                                            {"OutputSequenceTensor", of({3, 1, 8, 64})}});
    EXPECT_THAT(roundings(rnn), ElementsAre(16 + 64 + 64, 16 + 64 + 32, 16 + 64 + 32));
}

TEST(RoundedSums, OfAttention) {
    const auto attention = [](std::vector<Setting> tensors) {
        tensors.emplace_back("OutputTensor", of({1, 6, 32}));
        tensors.emplace_back("Scale", 1.0);
        tensors.emplace_back("HeadCount", 2);
        return with(describe("MULTIHEAD_ATTENTION", {}), tensors);
    };
    EXPECT_THAT(roundings(attention({{"QueryTensor", of({1, 6, 32})},
                                     {"KeyTensor", of({1, 100, 32})},
                                     {"ValueTensor", of({1, 100, 32})},
                                     {"PastKeyTensor", of({1, 2, 20, 16})},
                                     {"PastValueTensor", of({1, 2, 20, 16})}})),
                ElementsAre(16 + 32, 3 * 120, 120));
    EXPECT_THAT(roundings(attention({{"StackedQueryKeyValueTensor", of({1, 6, 2, 3, 16})}})),
                ElementsAre(16 + 32, 3 * 6, 6));
}

TEST(RoundedSums, OperatorsWithoutSumsHaveFewOperations) {
    const auto desc = of({1, 1, 8, 8});
    const Descriptor add = describe("ELEMENT_WISE_ADD", {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}});
    EXPECT_THAT(roundings(add), ElementsAre(32));
}

TEST(RoundedSums, AFusedSoftmaxAddsASum) {
    Descriptor fused = gemm({1, 1, 3, 100}, {1, 1, 100, 5}, 0, 1);
    const auto desc = of({1, 1, 3, 5});
    fused =
        with(fused, {{"FusedActivation", std::make_shared<const Descriptor>(describe(
                                             "ACTIVATION_SOFTMAX", {{"InputTensor", desc}, {"OutputTensor", desc}}))}});
    EXPECT_THAT(roundings(fused), ElementsAre(132, 45));
}

}  // namespace
}  // namespace dmlconform::tests::rounded_sums_test
