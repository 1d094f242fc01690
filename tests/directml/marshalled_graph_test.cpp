// Tests of engine/directml/marshalled_graph: the edges passed to CompileGraph.
#include "engine/directml/marshalled_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/graph_builder.h"

namespace dmlconform::directml::marshalled_graph_test {
namespace {

using core::DataType;
using operators::Graph;
using tests::describe;
using tests::tensor;

const core::TensorDesc desc = tensor(DataType::float32, {1, 2, 4, 4});

Graph some_graph() {
    const auto add = describe("ELEMENT_WISE_ADD", {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}});
    const auto normalization = describe(
        "MEAN_VARIANCE_NORMALIZATION1",
        {{"InputTensor", desc}, {"BiasTensor", desc}, {"OutputTensor", desc}, {"Axes", {2, 3}}, {"Epsilon", 1e-5f}});
    Graph graph = tests::plain_graph({{"sum", add, {"normal", "b"}, {"y"}},
                                      {"norm", normalization, {"x", "", "b"}, {"normal"}},
                                      {"twice", add, {"y", "y"}, {"z"}}},
                                     {"z", "normal"});
    graph.values[*graph.find_value("b")].is_constant = true;
    return graph;
}

template <class Edge>
std::vector<std::string> texts(const TypedDesc* edges, std::uint32_t count, std::uint32_t type,
                               std::string (*text)(const Edge&)) {
    std::vector<std::string> list;
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(edges[i].type, type);
        const auto& edge = *static_cast<const Edge*>(edges[i].desc);
        list.push_back(text(edge) + " " + edge.name);
    }
    return list;
}

std::string in_brackets(std::initializer_list<std::uint32_t> numbers) {
    std::string text;
    for (const std::uint32_t number : numbers) {
        text += (text.empty() ? "" : ",") + std::to_string(number);
    }
    return text;
}

TEST(MarshalledGraph, EdgesByIndices) {
    const Graph graph = some_graph();
    // Inputs are in the order in which nodes read them.
    ASSERT_EQ(graph.values[graph.inputs[0]].name, "b");
    int operators[3] = {};
    void* const pointers[] = {&operators[0], &operators[1], &operators[2]};
    const MarshalledGraph marshalled(graph, pointers);
    const GraphDesc& result = marshalled.desc();
    EXPECT_EQ(result.input_count, 2u);
    EXPECT_EQ(result.output_count, 2u);
    ASSERT_EQ(result.node_count, 3u);
    for (std::size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(result.nodes[n].type, operator_node);
        const auto& node = *static_cast<const OperatorNodeDesc*>(result.nodes[n].desc);
        EXPECT_EQ(node.operation, pointers[n]);
        EXPECT_EQ(node.name, graph.nodes[n].name);
    }
    // The absent scale has no edge, and the bias after it keeps its index.
    EXPECT_EQ(texts<InputEdgeDesc>(result.input_edges, result.input_edge_count, input_edge,
                                   [](const InputEdgeDesc& edge) {
                                       return in_brackets({edge.graph_input, edge.to_node, edge.to_input});
                                   }),
              (std::vector<std::string>{"0,0,1 b", "1,1,0 x", "0,1,2 b"}));
    EXPECT_EQ(texts<IntermediateEdgeDesc>(
                  result.intermediate_edges, result.intermediate_edge_count, intermediate_edge,
                  [](const IntermediateEdgeDesc& edge) {
                      return in_brackets({edge.from_node, edge.from_output, edge.to_node, edge.to_input});
                  }),
              (std::vector<std::string>{"1,0,0,0 normal", "0,0,2,0 y", "0,0,2,1 y"}));
    EXPECT_EQ(texts<OutputEdgeDesc>(result.output_edges, result.output_edge_count, output_edge,
                                    [](const OutputEdgeDesc& edge) {
                                        return in_brackets({edge.from_node, edge.from_output, edge.graph_output});
                                    }),
              (std::vector<std::string>{"2,0,0 z", "1,0,1 normal"}));
}

TEST(MarshalledGraph, ConstantsAreOwned) {
    const Graph graph = some_graph();
    const auto owned = with_owned_constants(graph, graph.nodes[1]);
    EXPECT_EQ(owned.tensor("InputTensor")->flags, core::TensorFlags::none);
    EXPECT_EQ(owned.tensor("BiasTensor")->flags, core::TensorFlags::owned_by_dml);
    EXPECT_EQ(owned.tensor("OutputTensor")->flags, core::TensorFlags::none);
    EXPECT_EQ(graph.nodes[1].descriptor->tensor("BiasTensor")->flags, core::TensorFlags::none) << "the graph's own";
}

TEST(MarshalledGraph, KnowsWhatCrashes) {
    const auto line = tensor(DataType::float32, {4});
    const auto fill =
        describe("FILL_VALUE_SEQUENCE", {{"OutputTensor", line},
                                         {"ValueDataType", static_cast<std::uint32_t>(DataType::float32)},
                                         {"ValueStart", operators::FieldValue(operators::ScalarUnion{1})},
                                         {"ValueDelta", operators::FieldValue(operators::ScalarUnion{1})}});
    const auto relu = describe("ACTIVATION_RELU", {{"InputTensor", line}, {"OutputTensor", line}});
    EXPECT_EQ(known_crash(tests::plain_graph({{"f", fill, {}, {"t"}}, {"r", relu, {"t"}, {"y"}}}, {"t", "y"})), "");
    const auto sum = describe("ELEMENT_WISE_ADD", {{"ATensor", line}, {"BTensor", line}, {"OutputTensor", line}});
    const std::vector<tests::TestNode> with_input{{"f", fill, {}, {"t"}}, {"s", sum, {"t", "x"}, {"y"}}};
    EXPECT_EQ(known_crash(tests::plain_graph(with_input, {"y"})), "");
    EXPECT_EQ(known_crash(tests::plain_graph(with_input, {"t", "y"})),
              "a graph with inputs removes the device if one of its outputs is that of FILL_VALUE_SEQUENCE, as that of "
              "`f`");
    EXPECT_EQ(known_crash(tests::plain_graph({{"f", fill, {}, {"t"}}, {"r", relu, {"x"}, {"y"}}}, {"t", "y"})),
              "CompileGraph crashes on FILL_VALUE_SEQUENCE if no node reads its output, as that of `f`");
}

}  // namespace
}  // namespace dmlconform::directml::marshalled_graph_test
