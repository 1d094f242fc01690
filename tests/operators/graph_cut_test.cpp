// Tests how a graph is cut at values.
#include "engine/operators/graph_cut.h"

#include <gtest/gtest.h>

#include "engine/operators/graph_rules.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::graph_cut_test {
namespace {

using operators::Graph;
using Names = std::vector<std::string>;

std::vector<std::string> names(const Graph& graph, const std::vector<operators::ValueIndex>& values) {
    std::vector<std::string> list;
    for (const auto value : values) {
        list.push_back(graph.values[value].name);
    }
    return list;
}

TEST(GraphCut, LetsReadersReadAnInputInstead) {
    const auto desc = real({4});
    Graph graph =
        plain_graph({unary("a", "ACTIVATION_TANH", desc, "x", "t"), unary("b", "ACTIVATION_RELU", desc, "t", "u"),
                     unary("c", "ACTIVATION_RELU", desc, "u", "y")},
                    {"y"});
    graph.values[*graph.find_value("x")].is_constant = true;
    const std::vector<std::string> values{"t"};
    const operators::GraphCut cut = operators::cut_graph(graph, values);
    EXPECT_EQ(names(cut.observed, cut.observed.outputs), (Names{"y", "t"}));
    EXPECT_EQ(names(cut.observed, cut.observed.inputs), (Names{"x"}));
    EXPECT_EQ(names(cut.cut, cut.cut.outputs), (Names{"y", "t"}));
    EXPECT_EQ(names(cut.cut, cut.cut.inputs), (Names{"x", "t@computed"}));
    EXPECT_TRUE(cut.cut.values[*cut.cut.find_value("x")].is_constant);
    for (const Graph* legal : {&cut.observed, &cut.cut}) {
        EXPECT_FALSE(operators::validate_graph(*legal, core::highest_feature_level));
    }
}

TEST(GraphCut, DoesNotNameAnOutputTwice) {
    const auto desc = real({4});
    const Graph graph = plain_graph(
        {unary("a", "ACTIVATION_TANH", desc, "t@computed", "t"), unary("b", "ACTIVATION_RELU", desc, "t", "y")},
        {"t", "y"});
    const std::vector<std::string> values{"t"};
    const operators::GraphCut cut = operators::cut_graph(graph, values);
    EXPECT_EQ(names(cut.cut, cut.cut.outputs), (Names{"t", "y"}));
    EXPECT_EQ(names(cut.cut, cut.cut.inputs), (Names{"t@computed", "t@computed'"}));
}

}  // namespace
}  // namespace dmlconform::tests::graph_cut_test
