// Tests of nodes that become several nodes of a graph, and of nodes from the domain com.microsoft. Expected values are
// derived by hand.
#include <cmath>

#include "tests/interop/model_imports.h"

namespace dmlconform::tests {
namespace model_operators_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Values = std::vector<std::vector<double>>;

onnx::NodeProto microsoft(const std::string& type, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs,
                          const std::vector<onnx::AttributeProto>& attributes = {}) {
    onnx::NodeProto made = node(type, inputs, outputs, attributes);
    made.domain.set("com.microsoft");
    return made;
}

/// The single output of a model with this node.
std::vector<double> computed(const onnx::NodeProto& one, const NamedTensors& inputs, const NamedTensors& weights = {}) {
    const ModelTest test{{one}, inputs, {{"y", {}}}, weights};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(cuts_of(model), IsEmpty());
    const Values values = values_of(model, inputs);
    return values.empty() ? std::vector<double>() : values.front();
}

const onnx::TensorProto row = floats({1, 2}, {1, -2});

TEST(ModelOperators, EinsumsOfOneTensor) {
    const std::pair<const char*, std::vector<double>> rows[] = {
        {"ba", {1, 4, 2, 5, 3, 6}}, {"...ij->...ji", {1, 4, 2, 5, 3, 6}}, {"ij", {1, 2, 3, 4, 5, 6}}, {"ij->", {21}}};
    for (const auto& [equation, expected] : rows) {
        EXPECT_EQ(computed(node("Einsum", {"x"}, {"y"}, {text("equation", equation)}),
                           {{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}}),
                  expected)
            << equation;
    }
}

TEST(ModelOperators, FusedMatMulScalesAndTransposes) {
    EXPECT_THAT(computed(microsoft("FusedMatMul", {"x", "w"}, {"y"}, {integer("transB", 1), number("alpha", 0.5F)}),
                         {{"x", row}}, {{"w", floats({3, 2}, {2, 0, 0, 2, 4, 2})}}),
                ElementsAre(1, -2, 0));
}

TEST(ModelOperators, FusedGemmHasAnActivation) {
    EXPECT_THAT(computed(microsoft("FusedGemm", {"x", "w"}, {"y"}, {text("activation", "Relu")}), {{"x", row}},
                         {{"w", floats({2, 2}, {1, 1, 1, 0})}}),
                ElementsAre(0, 1));
}

TEST(ModelOperators, SkipSimplifiedLayerNormalizationAddsFirst) {
    // 3 and 4 have a mean square of 12.5.
    const auto values =
        computed(microsoft("SkipSimplifiedLayerNormalization", {"x", "s", "g"}, {"y"}, {number("epsilon", 0)}),
                 {{"x", floats({1, 2}, {1, 1})}, {"s", floats({1, 2}, {2, 3})}}, {{"g", floats({2}, {12.5F, 12.5F})}});
    EXPECT_NEAR(values.at(0), 3 * 12.5 / std::sqrt(12.5), 1e-5);
    EXPECT_NEAR(values.at(1), 4 * 12.5 / std::sqrt(12.5), 1e-5);
}

TEST(ModelOperators, QLinearAddComputesWithRealNumbers) {
    const auto byte = [](std::uint8_t value) { return tensor<std::uint8_t>(2, {}, {value}); };
    EXPECT_THAT(
        computed(microsoft("QLinearAdd", {"a", "s", "z", "b", "s", "z", "t", "z"}, {"y"}),
                 {{"a", tensor<std::uint8_t>(2, {2}, {12, 250})}, {"b", tensor<std::uint8_t>(2, {2}, {14, 250})}},
                 {{"s", floats({}, {0.5F})}, {"z", byte(10)}, {"t", floats({}, {0.25F})}}),
        ElementsAre(10 + (1 + 2) * 4, 255));
}

TEST(ModelOperators, MatMulIntegerToFloatScales) {
    EXPECT_THAT(computed(microsoft("MatMulIntegerToFloat", {"x", "w", "s", "t", "z"}, {"y"}),
                         {{"x", tensor<std::uint8_t>(2, {1, 2}, {7, 3})}},
                         {{"w", tensor<std::int8_t>(3, {2, 1}, {2, -1})},
                          {"s", floats({}, {0.5F})},
                          {"t", floats({1}, {4})},
                          {"z", tensor<std::uint8_t>(2, {}, {5})}}),
                ElementsAre(((7 - 5) * 2 - (3 - 5)) * 2));
}

TEST(ModelOperators, NhwcConvMovesChannels) {
    // One row with two channels, and a filter that takes the difference of the channels.
    EXPECT_THAT(computed(microsoft("NhwcConv", {"x", "w"}, {"y"}), {{"x", floats({1, 1, 3, 2}, {1, 2, 3, 5, 8, 9})}},
                         {{"w", floats({1, 1, 1, 2}, {-1, 1})}}),
                ElementsAre(1, 2, 1));
}

TEST(ModelOperators, AttentionAddsTheBiasBeforeItSoftens) {
    // A bias that leaves one key for each query.
    const auto large = floats({1, 1, 2, 2}, {0, -1e4F, -1e4F, 0});
    const NamedTensors inputs{
        {"q", floats({1, 2, 1}, {0.5F, 0.25F})}, {"k", floats({1, 2, 1}, {1, -1})}, {"v", floats({1, 2, 1}, {3, 7})}};
    EXPECT_THAT(
        computed(microsoft("MultiHeadAttention", {"q", "k", "v", "", "", "b"}, {"y"}, {integer("num_heads", 1)}),
                 inputs, {{"b", large}}),
        ElementsAre(3, 7));
}

TEST(ModelOperators, AttentionOfOnePositionIsItsValue) {
    // Queries, keys and values in one tensor of [batches, positions, heads, 3, numbers].
    EXPECT_THAT(computed(microsoft("MultiHeadAttention", {"x"}, {"y"}, {integer("num_heads", 2)}),
                         {{"x", floats({1, 1, 2, 3, 1}, {1, 2, 3, 4, 5, 6})}}),
                ElementsAre(3, 6));
    const NamedTensors inputs{{"q", floats({1, 1, 3, 1}, {1, 2, 3})},
                              {"k", floats({1, 1, 3, 1}, {4, 5, 6})},
                              {"v", floats({1, 1, 3, 1}, {7, 8, 9})}};
    for (const char* other_side : {"right_window_size", "is_causal"}) {
        const std::int64_t size = other_side == std::string("is_causal") ? 1 : 0;
        EXPECT_THAT(computed(node("Attention", {"q", "k", "v"}, {"y"},
                                  {integer("left_window_size", 0), integer(other_side, size)}),
                             inputs),
                    ElementsAre(7, 8, 9));
    }
}

TEST(ModelOperators, AttentionEndsWithTheKeysThatCount) {
    const NamedTensors inputs{{"q", floats({2, 1, 2, 1}, {1, 1, 1, 1})},
                              {"k", floats({2, 1, 3, 1}, {0, 0, 0, 0, 0, 0})},
                              {"v", floats({2, 1, 3, 1}, {2, 4, 9, 2, 4, 9})}};
    const NamedTensors counts{{"n", longs({2}, {2, 3})}};
    EXPECT_THAT(computed(node("Attention", {"q", "k", "v", "", "", "", "n"}, {"y"}), inputs, counts),
                ElementsAre(3, 3, 5, 5));
    // The last of two queries has the position of the last key.
    EXPECT_THAT(
        computed(node("Attention", {"q", "k", "v", "", "", "", "n"}, {"y"}, {integer("is_causal", 1)}), inputs, counts),
        ElementsAre(2, 3, 3, 5));
}

TEST(ModelOperators, RotaryEmbeddingTurnsPairs) {
    // A quarter of a turn for the first pair, half a turn for the second.
    const NamedTensors angles{{"c", floats({1, 2}, {0, -1})}, {"s", floats({1, 2}, {1, 0})}, {"p", longs({1}, {0})}};
    const NamedTensors data{{"x", floats({1, 1, 5}, {1, 2, 3, 4, 5})}};
    const std::vector<onnx::AttributeProto> part{integer("num_heads", 1), integer("rotary_embedding_dim", 4)};
    EXPECT_THAT(computed(microsoft("RotaryEmbedding", {"x", "p", "c", "s"}, {"y"}, part), data, angles),
                ElementsAre(-3, -2, 1, -4, 5));
    auto neighbours = part;
    neighbours.push_back(integer("interleaved", 1));
    EXPECT_THAT(computed(microsoft("RotaryEmbedding", {"x", "p", "c", "s"}, {"y"}, neighbours), data, angles),
                ElementsAre(-2, 1, -3, -4, 5));
}

TEST(ModelOperators, WhatIsNotTheSameIsACut) {
    const std::pair<onnx::NodeProto, const char*> rows[] = {
        {microsoft("FusedConv", {"x", "x"}, {"y"}, {text("activation", "Other")}), "\"Other\" is not mapped"},
        {microsoft("Attention", {"x", "x"}, {"y"}, {integer("num_heads", 0)}), "Attention without data"},
        {microsoft("FusedMatMul", {"x", "x"}, {"y"}, {integer("transBatchA", 1)}), "moves batches"},
        {microsoft("GroupQueryAttention", {"x"}, {"y"}, {integer("num_heads", 3), integer("kv_num_heads", 2)}),
         "queries or heads that fit"},
        {microsoft("MultiHeadAttention", {"x"}, {"y"}, {integer("num_heads", 1)}), "without heads or queries"},
        {microsoft("RotaryEmbedding", {"x", "x", "x", "x"}, {"y"}), "data or angles that fit"},
        {node("RotaryEmbedding", {"x", "x", "x"}, {"y"}), "data, angles or heads that fit"},
        {node("Attention", {"x", "x", "x"}, {"y"}), "three or of four dimensions"},
        {microsoft("Unheard", {"x"}, {"y"}), "com.microsoft.Unheard"},
        {node("Einsum", {"x", "x"}, {"y"}, {text("equation", "ii,ij->j")}), "twice in a factor"},
        {node("NonZero", {"x"}, {"y"}), "input 1 is known only when the model runs"}};
    for (const auto& [one, why] : rows) {
        const ModelTest test{{one, node("Neg", {"x"}, {"z"})}, {{"x", row}}, {{"y", {}}, {"z", {}}}};
        const auto model = graph_of(model_of(test));
        ASSERT_EQ(model.cuts.size(), 1U) << why;
        EXPECT_THAT(cuts_of(model).front(), HasSubstr(why));
        EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_NEGATE"));
    }
}

TEST(ModelOperators, ClipTakesComputedBounds) {
    const ModelTest test{{node("Neg", {"b"}, {"low"}), node("Clip", {"x", "low"}, {"y"})},
                         {{"x", floats({3}, {-3, 0, 3})}, {"b", floats({1}, {1})}},
                         {{"y", {}}}};
    const auto model = graph_of(model_of(test));
    EXPECT_THAT(operators_of(model), ElementsAre("ELEMENT_WISE_NEGATE", "ELEMENT_WISE_MAX"));
    EXPECT_EQ(values_of(model, test.inputs), (Values{{-1, 0, 3}}));
}

TEST(ModelOperators, ProductsOfManyDimensionsAreFlattened) {
    std::vector<float> ones(2 * 2 * 1 * 1 * 2, 1);
    ones[0] = 5;
    EXPECT_THAT(computed(node("MatMul", {"x", "w"}, {"y"}), {{"x", floats({2, 2, 1, 1, 2}, ones)}},
                         {{"w", floats({2, 1}, {1, 10})}}),
                ElementsAre(15, 11, 11, 11));
}

TEST(ModelOperators, PowTakesExponentsOfAnotherType) {
    EXPECT_THAT(computed(node("Pow", {"x", "e"}, {"y"}), {{"x", row}}, {{"e", longs({}, {3})}}), ElementsAre(1, -8));
}

TEST(ModelOperators, NegativePaddingCutsOff) {
    EXPECT_THAT(computed(node("Pad", {"x", "p"}, {"y"}), {{"x", floats({3}, {1, 2, 3})}}, {{"p", longs({2}, {-1, 1})}}),
                ElementsAre(2, 3, 0));
}

}  // namespace
}  // namespace model_operators_test
}  // namespace dmlconform::tests
