// Tests of engine/cpu/attention beyond what cases can check: the bounds include the results of FP32
// implementations with a single pass over the keys, and are not much wider.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "engine/cpu/reference.h"
#include "tests/cpu/error_statistics.h"
#include "tests/cpu/random_tensors.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::attention_test {
namespace {

using core::Tensor;
using Floats = std::vector<float>;

/// One head of one batch.
struct Head {
    std::uint32_t queries, keys, size, value_size;
    Floats query, key, value;
    float scale;

    explicit Head(Random& random)
        : queries(random.pick(1U, 4U)),
          keys(random.pick(1U, 20U)),
          size(random.pick(1U, 20U)),
          value_size(random.pick(1U, 4U)),
          scale(random.uniform(0.1F, 1)) {
        const auto numbers = [&](std::uint32_t count) {
            Floats result(count);
            std::ranges::generate(result, [&] { return random.uniform(-2, 2); });
            return result;
        };
        query = numbers(queries * size);
        key = numbers(keys * size);
        value = numbers(keys * value_size);
    }

    /// Computes in FP32 with online softmax, like fused kernels: rescales the sums whenever a larger score appears.
    [[nodiscard]] Floats online() const {
        Floats result;
        for (std::size_t q = 0; q < queries; ++q) {
            float largest = -INFINITY;
            float total = 0;
            Floats sums(value_size);
            for (std::size_t k = 0; k < keys; ++k) {
                float score = 0;
                for (std::size_t i = size; i-- > 0;) {
                    score = std::fma(query[q * size + i] * scale, key[k * size + i], score);
                }
                const float next = std::max(largest, score);
                const float shrink = std::exp(largest - next);
                const float power = std::exp(score - next);
                largest = next;
                total = total * shrink + power;
                for (std::size_t i = 0; i < value_size; ++i) {
                    sums[i] = sums[i] * shrink + power * value[k * value_size + i];
                }
            }
            for (const float sum : sums) {
                result.push_back(sum / total);
            }
        }
        return result;
    }

    [[nodiscard]] cpu::Reference reference() const {
        const auto descriptor = describe("MULTIHEAD_ATTENTION", {{"QueryTensor", real({1, queries, size})},
                                                                 {"KeyTensor", real({1, keys, size})},
                                                                 {"ValueTensor", real({1, keys, value_size})},
                                                                 {"OutputTensor", real({1, queries, value_size})},
                                                                 {"Scale", scale},
                                                                 {"HeadCount", 1}});
        const Tensor tensors[] = {tensor_of<float>(*descriptor.tensor("QueryTensor"), query),
                                  tensor_of<float>(*descriptor.tensor("KeyTensor"), key),
                                  tensor_of<float>(*descriptor.tensor("ValueTensor"), value)};
        std::vector<const Tensor*> inputs(descriptor.inputs().size());
        for (std::size_t i = 0; i < std::size(tensors); ++i) {
            inputs[i] = &tensors[i];
        }
        return cpu::compute_reference(descriptor, inputs);
    }
};

TEST(Attention, BoundsHoldWhatGoesThroughTheKeysOnce) {
    Random random(1);
    for (int turn = 0; turn < 200; ++turn) {
        const Head head(random);
        const cpu::Reference reference = head.reference();
        const Floats values = values_of<float>(reference.outputs[0]);
        const Floats others = head.online();
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_GE(others[i], double{values[i]} - reference.slack[0].below[i]);
            EXPECT_LE(others[i], double{values[i]} + reference.slack[0].above[i]);
        }
    }
}

TEST(Attention, HonestOnesAreOffByWhatIsExpected) {
    Random random(3);
    ErrorStatisticsOfAll all;
    for (int turn = 0; turn < 200; ++turn) {
        const Head head(random);
        all.add(head.reference(), head.online());
    }
    const ErrorStatistics statistics = all.result();
    EXPECT_GE(statistics.count, 1000U);
    EXPECT_GT(statistics.q, 0.05);
    EXPECT_LT(statistics.q, 2);
}

/// Scores are up to 80, where FP32's relative error leads to absolute errors of about 2^-17.
TEST(Attention, BoundsAreNarrow) {
    Random random(2);
    for (int turn = 0; turn < 200; ++turn) {
        const cpu::Reference reference = Head(random).reference();
        for (std::size_t i = 0; i < reference.slack[0].below.size(); ++i) {
            EXPECT_LT(reference.slack[0].below[i] + reference.slack[0].above[i], 1e-2);
        }
    }
}

Tensor halves(core::Dimensions sizes, const std::vector<double>& numbers) {
    return tensor_of<core::Float16>(core::TensorDesc::packed(core::DataType::float16, std::move(sizes)),
                                    std::vector<core::Float16>(numbers.begin(), numbers.end()));
}

/// One query and one head in FLOAT16, of which all keys are masked by -10000.
cpu::Reference with_all_keys_masked(std::map<std::string_view, const Tensor*> tensors) {
    const Tensor mask = tensor_of<std::int32_t>(core::TensorDesc::packed(core::DataType::int32, {1, 1}), {0});
    tensors["MaskTensor"] = &mask;
    const std::uint32_t value_size = tensors.at("ValueTensor")->desc.sizes.back();
    std::vector<Setting> fields{{"OutputTensor", core::TensorDesc::packed(core::DataType::float16, {1, 1, value_size})},
                                {"Scale", 1},
                                {"MaskFilterValue", -10000},
                                {"HeadCount", 1},
                                {"MaskType", 1}};
    for (const auto& [name, tensor] : tensors) {
        fields.emplace_back(name, tensor->desc);
    }
    const operators::Descriptor descriptor = describe("MULTIHEAD_ATTENTION", fields);
    std::vector<const Tensor*> inputs;
    for (const auto& slot : descriptor.inputs()) {
        const auto found = tensors.find(slot.name);
        inputs.push_back(found == tensors.end() ? nullptr : found->second);
    }
    return cpu::compute_reference(descriptor, inputs);
}

/// With all keys masked, scores are within 8 of -10000 as FLOAT16 numbers, so each weight may be anything from 0 to 1.
/// Outputs are then anything between the values, up to a rounding of each weight and of the sum. Powers must not
/// overflow, because implementations subtract the maximum first.
TEST(Attention, BoundsOfMaskedKeysAreBetweenTheValues) {
    const Tensor query = halves({1, 1, 2}, {1.5, -0.75});
    const Tensor key = halves({1, 4, 2}, {1, 2, -3, 0.5, 0.25, 4, -1, -1});
    const Tensor value = halves({1, 4, 2}, {1, -8, 2, 30, 3, 500, 4, 7});
    const cpu::Reference reference =
        with_all_keys_masked({{"QueryTensor", &query}, {"KeyTensor", &key}, {"ValueTensor", &value}});
    const auto values = values_of<core::Float16>(reference.outputs[0]);
    const double between[][2] = {{1, 4}, {-8, 500}};
    for (std::size_t i = 0; i < 2; ++i) {
        // Sum, weight, product and result may be rounded to FLOAT16 numbers.
        const double rounding = 4.1 * 0x1p-10 * between[i][1];
        EXPECT_EQ(reference.slack[0].nan[i], 0);
        EXPECT_GE(static_cast<double>(values[i]) - reference.slack[0].below[i],
                  -4 * std::fabs(between[i][0]) - rounding);
        EXPECT_LE(static_cast<double>(values[i]) + reference.slack[0].above[i], between[i][1] + rounding);
    }
}

/// Scores of 0 and -4 with biases of 0 and 4 are alike, and so are the weights, whatever the mask is. But 4 - 10000 may
/// be stored as -9992, towards zero, and so may that and -4: then the second key has all of the weight.
TEST(Attention, BiasesAndMasksMayBeAddedFirst) {
    const Tensor query = halves({1, 1, 1}, {1});
    const Tensor key = halves({1, 2, 1}, {0, -4});
    const Tensor value = halves({1, 2, 1}, {1, 3});
    const Tensor bias = halves({1, 1, 1, 2}, {0, 4});
    const cpu::Reference reference = with_all_keys_masked(
        {{"QueryTensor", &query}, {"KeyTensor", &key}, {"ValueTensor", &value}, {"RelativePositionBiasTensor", &bias}});
    EXPECT_EQ(static_cast<double>(values_of<core::Float16>(reference.outputs[0])[0]), 2);
    EXPECT_GE(reference.slack[0].above[0], 0.999);
}

/// Scores of -1 next to biases of the lowest number: if that is -infinity for all keys, the weights are NaN, and
/// otherwise alike. The mean is not exact then.
TEST(Attention, BoundsOfScoresThatMayAllOverflowAreBetweenTheValues) {
    const Floats values{0.1F, 0.2F, 0.4F};
    const Tensor tensors[] = {tensor_of<float>(real({1, 1, 1}), {1}), tensor_of<float>(real({1, 3, 1}), {-1, -1, -1}),
                              tensor_of<float>(real({1, 3, 1}), values),
                              tensor_of<float>(real({1, 1, 1, 3}), Floats(3, -3.4028235e38F))};
    const auto descriptor = describe("MULTIHEAD_ATTENTION", {{"QueryTensor", tensors[0].desc},
                                                             {"KeyTensor", tensors[1].desc},
                                                             {"ValueTensor", tensors[2].desc},
                                                             {"RelativePositionBiasTensor", tensors[3].desc},
                                                             {"OutputTensor", real({1, 1, 1})},
                                                             {"Scale", 1},
                                                             {"HeadCount", 1}});
    const std::string_view names[] = {"QueryTensor", "KeyTensor", "ValueTensor", "RelativePositionBiasTensor"};
    std::vector<const Tensor*> inputs;
    for (const auto& slot : descriptor.inputs()) {
        const auto* const found = std::ranges::find(names, std::string_view(slot.name));
        inputs.push_back(found == std::end(names) ? nullptr : &tensors[found - names]);
    }
    const cpu::Reference reference = cpu::compute_reference(descriptor, inputs);
    const core::ElementSlack& slack = reference.slack[0];
    EXPECT_FLOAT_EQ(values_of<float>(reference.outputs[0])[0], 0.7F / 3);
    EXPECT_EQ(slack.nan[0], 1);
    EXPECT_NEAR(slack.below[0], 0.7 / 3 - 0.1, 1e-5);
    EXPECT_NEAR(slack.above[0], 0.4 - 0.7 / 3, 1e-5);
}

}  // namespace
}  // namespace dmlconform::tests::attention_test
