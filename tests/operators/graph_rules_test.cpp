// Tests which graphs are legal, and how a graph is represented as a descriptor.
#include "engine/operators/graph_rules.h"

#include <gtest/gtest.h>

#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests {
namespace graph_rules_test {
namespace {

using operators::Descriptor;
using operators::Graph;

constexpr auto level = core::highest_feature_level;

TestNode relu(std::string name, std::string from, std::string to, const core::TensorDesc& desc = real({1, 1, 2, 3})) {
    return unary(std::move(name), "ACTIVATION_RELU", desc, std::move(from), std::move(to));
}

std::string rule_of(const Graph& graph) {
    const auto verdict = operators::validate_graph(graph, level);
    return verdict ? verdict->rule : "";
}

TEST(GraphRules, AcceptsAChainInAnyOrderOfNodes) {
    EXPECT_EQ(rule_of(plain_graph({relu("b", "t", "y"), relu("a", "x", "t")}, {"y"})), "");
}

TEST(GraphRules, RejectsWhatHasNoNodesOrNoOutputs) {
    EXPECT_EQ(rule_of(plain_graph({}, {})), "graph.empty");
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "y")}, {})), "graph.empty");
}

TEST(GraphRules, RejectsACycle) {
    EXPECT_EQ(rule_of(plain_graph({relu("a", "b", "a"), relu("b", "a", "b")}, {"a"})), "graph.cycle");
}

TEST(GraphRules, RejectsTwoProducers) {
    Graph graph = plain_graph({relu("a", "x", "y"), relu("b", "x", "z")}, {"y", "z"});
    graph.nodes[1].outputs = graph.nodes[0].outputs;
    EXPECT_EQ(rule_of(graph), "graph.producer");
}

TEST(GraphRules, RejectsAnOutputThatNobodyMakes) {
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "y")}, {"y", "x"})), "graph.output");
}

TEST(GraphRules, RejectsATensorWithoutAValue) {
    Graph graph = plain_graph({relu("a", "x", "y")}, {"y"});
    graph.nodes[0].inputs[0] = operators::no_value;
    EXPECT_EQ(rule_of(graph), "graph.binding");
}

TEST(GraphRules, RejectsANodeThatNobodyNeeds) {
    const auto verdict =
        operators::validate_graph(plain_graph({relu("a", "x", "y"), relu("lost", "y", "z")}, {"y"}), level);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->rule, "graph.unusedNode");
    EXPECT_NE(verdict->message.find("`lost`"), std::string::npos) << verdict->message;
}

TEST(GraphRules, RejectsAnInputThatNobodyReads) {
    Graph graph = plain_graph({relu("a", "x", "y")}, {"y"});
    graph.values.push_back({"unread", real({1, 1, 2, 3}), std::nullopt, false});
    graph.inputs.push_back(graph.values.size() - 1);
    EXPECT_EQ(rule_of(graph), "graph.unreadInput");
}

TEST(GraphRules, ReshapesAndReinterpretsOnAnEdge) {
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t"), relu("b", "t", "y", real({1, 1, 1, 6}))}, {"y"})), "");
    const auto half = tensor(core::DataType::float16, {1, 1, 2, 6});
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t"), relu("b", "t", "y", half)}, {"y"})), "");
}

TEST(GraphRules, RejectsAnotherTotalSize) {
    const auto verdict = operators::validate_graph(
        plain_graph({relu("a", "x", "t"), relu("b", "t", "y", real({1, 1, 2, 4}))}, {"y"}), level);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->rule, "graph.edgeSize");
    EXPECT_EQ(verdict->message, "InputTensor of node `b` has 32 bytes, but `t` has 24");
}

TEST(GraphRules, RejectsAReaderOfPartOfTheBytes) {
    core::TensorDesc part = real({1, 1, 1, 4});
    part.total_bytes = 24;
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t"), relu("b", "t", "y", part)}, {"y"})), "graph.edgeBytes");
    const auto transposed = tensor(core::DataType::float32, {1, 1, 2, 3}, {6, 6, 1, 2});
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t", transposed), relu("b", "t", "y", part)}, {"y"})),
              "graph.edgeBytes");
    core::TensorDesc strided = tensor(core::DataType::float32, {1, 1, 1, 2}, {6, 6, 6, 2});
    strided.total_bytes = 24;
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t"), relu("b", "t", "y", strided)}, {"y"})), "");
}

TEST(GraphRules, RejectsAReaderOfBytesThatNobodyWrites) {
    core::TensorDesc wide = real({1, 1, 1, 4});
    wide.total_bytes = 24;
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t", wide), relu("b", "t", "y")}, {"y"})), "graph.unwrittenBytes");
    // Every second element is written.
    const auto gaps = tensor(core::DataType::float32, {1, 1, 2, 2}, {8, 8, 4, 2});
    core::TensorDesc all = real({1, 1, 1, 7});
    ASSERT_EQ(all.total_bytes, gaps.total_bytes);
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t", gaps), relu("b", "t", "y", gaps)}, {"y"})), "");
    EXPECT_EQ(rule_of(plain_graph({relu("a", "x", "t", gaps), relu("b", "t", "y", all)}, {"y"})),
              "graph.unwrittenBytes");
}

TEST(GraphRules, RejectsAnOwnedEdge) {
    Graph graph = plain_graph({relu("a", "x", "t"), relu("b", "t", "y")}, {"y"});
    Descriptor owned = *graph.nodes[1].descriptor;
    std::get<core::TensorDesc>(owned.values[0]).flags = core::TensorFlags::owned_by_dml;
    graph.nodes[1].descriptor = std::make_shared<const Descriptor>(owned);
    EXPECT_EQ(rule_of(graph), "graph.ownedValue");
}

TEST(GraphRules, NamesTheNodeThatIsIllegal) {
    const auto verdict = operators::validate_graph(
        plain_graph(
            {{"bad",
              describe("ACTIVATION_RELU", {{"InputTensor", real({1, 1, 2, 3})}, {"OutputTensor", real({1, 6})}}),
              {"x"},
              {"y"}}},
            {"y"}),
        level);
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->message.starts_with("node `bad`: ")) << verdict->message;
}

TEST(GraphRules, NeedTheHighestLevelOfTheNodes) {
    const auto face = graph_of({{"sign",
                                 describe("ELEMENT_WISE_SIGN", {{"InputTensor", tensor(core::DataType::int8, {6})},
                                                                {"OutputTensor", tensor(core::DataType::int8, {6})}}),
                                 {"x"},
                                 {"y"}}},
                               {"y"});
    const auto alone = operators::minimum_feature_level(*face->graph->nodes[0].descriptor);
    ASSERT_TRUE(alone);
    EXPECT_EQ(operators::minimum_feature_level(*face), alone);
    EXPECT_GT(*alone, core::feature_levels().front());
}

TEST(GraphRules, AGraphLooksLikeAnOperator) {
    const auto face = graph_of({relu("a", "x", "t"), relu("b", "t", "y")}, {"y"});
    ASSERT_EQ(face->inputs().size(), 1U);
    EXPECT_EQ(face->inputs()[0].name, "x");
    ASSERT_EQ(face->outputs().size(), 1U);
    EXPECT_EQ(face->outputs()[0].name, "y");
    EXPECT_EQ(face->schema->short_name(), "GRAPH");
    EXPECT_FALSE(operators::validate(*face, level));
    EXPECT_EQ(operators::minimum_cost(*face).operations, 12);
    EXPECT_EQ(to_lines(*face).back(),
              "node b: ACTIVATION_RELU(InputTensor=FLOAT32 [1,1,2,3], OutputTensor=FLOAT32 [1,1,2,3]); "
              "reads InputTensor = t; writes OutputTensor = y");
}

TEST(GraphRules, ValuesAreNeededUntilTheirLastReader) {
    const Graph graph = plain_graph({relu("a", "x", "t"), relu("b", "t", "u"), relu("c", "u", "y")}, {"y", "t"});
    const auto last = operators::last_uses(graph, graph.execution_order());
    EXPECT_EQ(last[*graph.find_value("x")], 0U);
    EXPECT_EQ(last[*graph.find_value("u")], 2U);
    EXPECT_EQ(last[*graph.find_value("t")], 3U);
}

TEST(GraphBuilder, RefusesTwoNodesOfOneNameAndTwoProducers) {
    operators::GraphBuilder builder;
    const auto node = std::make_shared<const Descriptor>(relu("a", "x", "y").descriptor);
    const std::string x = "x";
    const std::string y = "y";
    ASSERT_TRUE(builder.add_node("a", node, {&x, 1}, {&y, 1}));
    EXPECT_FALSE(builder.add_node("a", node, {&x, 1}, {}));
    const auto again = builder.add_node("b", node, {&x, 1}, {&y, 1});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, "nodes \"a\" and \"b\" both write \"y\"");
    EXPECT_FALSE(builder.add_node("c", node, {}, {}));
}

}  // namespace
}  // namespace graph_rules_test
}  // namespace dmlconform::tests
