// Tests that the tolerance of a graph accepts both sides of a decision where a legal implementation may take either.
#include "engine/cpu/decisions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engine/compare/comparison.h"
#include "engine/core/hash.h"
#include "engine/cpu/reference.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {
namespace decisions_test {
namespace {

using core::Tensor;
using cpu::Decision;

constexpr std::uint32_t count = 256;

/// tanh(x) followed by a node that decides, for inputs of which the first one is 0.5. No other one is near 0.5 or -0.5.
struct Decided {
    std::shared_ptr<const operators::Descriptor> face;
    Tensor x{real({count})};
    cpu::Reference reference;

    explicit Decided(const operators::Descriptor& deciding, std::vector<std::string> reads = {"t"}) {
        for (std::size_t i = 0; i < count; ++i) {
            x.as<float>()[i] = i == 0 ? 0.5F : 0.01F * static_cast<float>(i) - 1.305F;
        }
        face = graph_of({unary("tanh", "ACTIVATION_TANH", real({count}), "x", "t"),
                         {"deciding", deciding, std::move(reads), {"y"}}},
                        {"y"});
        const std::vector<const Tensor*> inputs{&x};
        reference = cpu::compute_reference(*face, inputs);
    }

    /// Whether another value of the first element is accepted.
    [[nodiscard]] bool accepts(float first) const {
        Tensor actual = core::packed_copy(reference.outputs[0]);
        actual.as<float>()[0] = first;
        return compare::compare(reference.outputs[0], actual, cpu::default_tolerance(*face, face->outputs()[0]),
                                &reference.slack[0])
            .passed();
    }

    /// The number of elements that may differ by more than rounding errors.
    [[nodiscard]] std::size_t undecided() const {
        std::size_t wide = 0;
        for (std::size_t i = 0; i < count; ++i) {
            wide += reference.slack[0].above[i] + reference.slack[0].below[i] > 0.01 ? 1 : 0;
        }
        return wide;
    }
};

float tanh_of_half() {
    return static_cast<float>(std::tanh(0.5));
}

TEST(Decisions, AcceptBothSidesOfAThreshold) {
    const float bound = tanh_of_half();
    const Decided relu(describe("ACTIVATION_THRESHOLDED_RELU",
                                {{"InputTensor", real({count})}, {"OutputTensor", real({count})}, {"Alpha", bound}}));
    EXPECT_TRUE(relu.accepts(0));
    EXPECT_TRUE(relu.accepts(bound));
    EXPECT_FALSE(relu.accepts(3));
    EXPECT_EQ(relu.undecided(), 1U);
}

TEST(Decisions, AcceptBothSidesOfAShrinkingBound) {
    const float bound = tanh_of_half();
    const Decided shrink(
        describe("ACTIVATION_SHRINK",
                 {{"InputTensor", real({count})}, {"OutputTensor", real({count})}, {"Bias", 0}, {"Threshold", bound}}));
    EXPECT_TRUE(shrink.accepts(0));
    EXPECT_TRUE(shrink.accepts(bound));
    EXPECT_EQ(shrink.undecided(), 1U);
}

TEST(Decisions, AcceptBothSidesOfAModulus) {
    // tanh(x) modulo tanh(0.5), which is a factor of the first element.
    const float bound = tanh_of_half();
    const auto desc = real({count});
    const auto all = tensor(core::DataType::float32, {count}, {0});
    const auto face = graph_of(
        {unary("tanh", "ACTIVATION_TANH", desc, "x", "t"),
         {"modulus",
          describe("ELEMENT_WISE_MODULUS_FLOOR", {{"ATensor", desc}, {"BTensor", all}, {"OutputTensor", desc}}),
          {"t", "b"},
          {"y"}}},
        {"y"});
    Tensor x(desc);
    for (std::size_t i = 0; i < count; ++i) {
        x.as<float>()[i] = i == 0 ? 0.5F : 0.01F;
    }
    const Tensor b = tensor_of<float>(all, std::vector<float>(count, bound));
    const std::vector<const Tensor*> inputs{&x, &b};
    const cpu::Reference reference = cpu::compute_reference(*face, inputs);
    for (const float first : {0.0F, std::nextafter(bound, 0.0F)}) {
        Tensor actual = core::packed_copy(reference.outputs[0]);
        actual.as<float>()[0] = first;
        EXPECT_TRUE(compare::compare(reference.outputs[0], actual, cpu::default_tolerance(*face, face->outputs()[0]),
                                     &reference.slack[0])
                        .passed())
            << first;
    }
    EXPECT_LT(reference.slack[0].above[1], 1e-3);
}

TEST(Decisions, KnowWhichOperatorsJump) {
    const auto desc = real({4});
    const auto half = tensor(core::DataType::float16, {4});
    const auto decision = [](std::string_view op, const core::TensorDesc& from, const core::TensorDesc& to) {
        return cpu::decision_of(describe(op, {{"InputTensor", from}, {"OutputTensor", to}}), 0);
    };
    EXPECT_EQ(decision("ELEMENT_WISE_ROUND", desc, desc), Decision::steps);
    EXPECT_EQ(decision("ELEMENT_WISE_ROUND", half, half), Decision::steps);
    EXPECT_EQ(decision("CAST", desc, tensor(core::DataType::int32, {4})), Decision::steps);
    EXPECT_EQ(decision("CAST", desc, half), Decision::rounds_to_float16);
    EXPECT_EQ(decision("CAST", half, desc), Decision::none);
    EXPECT_EQ(decision("CAST", tensor(core::DataType::int32, {4}), tensor(core::DataType::int8, {4})), Decision::none);
    EXPECT_EQ(decision("ARGMAX", desc, tensor(core::DataType::uint32, {1})), Decision::picks);
    EXPECT_EQ(decision("ACTIVATION_HARDMAX", desc, desc), Decision::picks);
    EXPECT_EQ(decision("ACTIVATION_RELU", desc, desc), Decision::none);
}

TEST(Decisions, KnowWhoReadsBits) {
    using core::DataType;
    const auto reads_bits = [](std::string_view op, DataType read, DataType written) {
        const auto node =
            describe(op, {{"InputTensor", tensor(read, {4})},
                          {"OutputTensor", tensor(op == "ELEMENT_WISE_BIT_COUNT" ? DataType::uint8 : read, {4})}});
        return cpu::reads_bits(node, 0, written);
    };
    EXPECT_TRUE(reads_bits("ELEMENT_WISE_BIT_COUNT", DataType::float32, DataType::float32));
    EXPECT_FALSE(reads_bits("ELEMENT_WISE_BIT_COUNT", DataType::uint32, DataType::uint32));
    EXPECT_TRUE(reads_bits("ELEMENT_WISE_BIT_COUNT", DataType::uint32, DataType::float32));
    EXPECT_FALSE(reads_bits("ACTIVATION_RELU", DataType::float32, DataType::float32));
    EXPECT_TRUE(reads_bits("ACTIVATION_RELU", DataType::float16, DataType::float32));
}

/// Each of nearly equal elements is the greatest one in some turn.
TEST(Decisions, LetEachOfManyCandidatesBeTheExtreme) {
    std::size_t most_found = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::set<std::size_t> found;
        for (std::size_t turn = 0; turn < 16; ++turn) {
            Tensor tensor = tensor_of<float>(real({6}), {1, 1 - 1e-6F, 1, 1 - 2e-6F, 1, 1 - 1e-6F});
            const std::vector<double> distances(6, 1e-5);
            cpu::move_across_bounds(tensor, distances, turn, core::mixed(seed), true);
            found.insert(
                static_cast<std::size_t>(std::ranges::max_element(tensor.as<float>()) - tensor.as<float>().begin()));
        }
        most_found = std::max(most_found, found.size());
        EXPECT_GE(found.size(), 3U) << "seed " << seed;
    }
    EXPECT_GE(most_found, 5U);
}

TEST(Decisions, MoveEachElementUpInHalfOfTheTurns) {
    for (const bool picks : {false, true}) {
        std::vector<int> up(100);
        for (std::size_t turn = 0; turn < 16; ++turn) {
            Tensor tensor = tensor_of<float>(real({100}), std::vector<float>(100, 0.0F));
            const std::vector<double> distances(100, 1);
            cpu::move_across_bounds(tensor, distances, turn, 7, picks);
            for (std::size_t i = 0; i < up.size(); ++i) {
                up[i] += tensor.as<float>()[i] > 0 ? 1 : 0;
            }
        }
        EXPECT_EQ(up, std::vector<int>(100, 8)) << picks;
    }
}

}  // namespace
}  // namespace decisions_test
}  // namespace dmlconform::tests
