// Tests of engine/operators/graph_json: graphs are received as they were sent, and invalid messages are rejected.
#include "engine/operators/graph_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/graph_builder.h"

namespace dmlconform::tests::graph_json_test {
namespace {

using core::DataType;
using nlohmann::json;
using operators::Descriptor;
using operators::Graph;

/// Nodes in a non-topological order, a value that is read twice, an absent tensor, a constant, and an in-place output.
Graph some_graph() {
    const auto desc = tensor(DataType::float32, {1, 2, 4, 4});
    const Descriptor normalization = describe(
        "MEAN_VARIANCE_NORMALIZATION1",
        {{"InputTensor", desc}, {"BiasTensor", desc}, {"OutputTensor", desc}, {"Axes", {2, 3}}, {"Epsilon", 1e-5f}});
    Descriptor add = describe("ELEMENT_WISE_ADD", {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}});
    add.in_place = {0};
    Graph graph = plain_graph({{"sum", add, {"normal", "b"}, {"y"}},
                               {"norm", normalization, {"x", "", "b"}, {"normal"}},
                               unary("relu", "ACTIVATION_RELU", desc, "y", "z")},
                              {"z", "normal"});
    graph.values[*graph.find_value("b")].is_constant = true;
    return graph;
}

TEST(GraphJson, ComesBackAsItWas) {
    const Graph graph = some_graph();
    const json sent = operators::graph_to_json(graph);
    const auto received = operators::graph_from_json(sent);
    ASSERT_TRUE(received.has_value()) << received.error().message;
    EXPECT_EQ(operators::graph_to_json(**received), sent);
    const Graph& copy = **received;
    ASSERT_EQ(copy.nodes.size(), 3u);
    EXPECT_EQ(copy.nodes[0].name, "sum");
    EXPECT_EQ(copy.nodes[0].descriptor->in_place, graph.nodes[0].descriptor->in_place);
    EXPECT_EQ(copy.nodes[1].inputs[1], operators::no_value);
    EXPECT_EQ(copy.execution_order(), (std::vector<std::size_t>{1, 0, 2}));
    for (const char* name : {"x", "b", "normal", "y", "z"}) {
        const auto& before = graph.values[graph.find_value(name).value()];
        const auto& after = copy.values[copy.find_value(name).value()];
        EXPECT_EQ(before.desc, after.desc) << name;
        EXPECT_EQ(before.is_constant, after.is_constant) << name;
        EXPECT_EQ(before.producer.has_value(), after.producer.has_value()) << name;
    }
    const auto names = [](const Graph& of, const std::vector<operators::ValueIndex>& values) {
        std::vector<std::string> list;
        for (const operators::ValueIndex value : values) {
            list.push_back(of.values[value].name);
        }
        return list;
    };
    EXPECT_EQ(names(copy, copy.inputs), names(graph, graph.inputs));
    EXPECT_EQ(names(copy, copy.outputs), names(graph, graph.outputs));
}

/// Cycles are transmitted; the engine must reject them.
TEST(GraphJson, CyclesComeThrough) {
    const auto desc = tensor(DataType::float32, {4});
    const Graph graph = plain_graph(
        {unary("a", "ACTIVATION_RELU", desc, "y", "x"), unary("b", "ACTIVATION_RELU", desc, "x", "y")}, {"y"});
    const auto received = operators::graph_from_json(operators::graph_to_json(graph));
    ASSERT_TRUE(received.has_value()) << received.error().message;
    EXPECT_TRUE((*received)->execution_order().empty());
}

TEST(GraphJson, WhatIsNotAGraph) {
    struct Row {
        const char* where;
        const char* patch;  // a JSON merge patch, in which null removes a member
        const char* message;
    };
    const Row rows[] = {
        {"", R"({"nodes": null})", "the graph has no array `nodes`"},
        {"", R"({"inputs": 5})", "the graph has no array `inputs`"},
        {"", R"({"outputs": [5]})", "an output of the graph is no value"},
        {"", R"({"outputs": ["w"]})", "an output of the graph is no value"},
        {"", R"({"outputs": [null]})", "an output of the graph is no value"},
        {"", R"({"inputs": ["x"]})", "an input of the graph has no name"},
        {"", R"({"nodes": [7]})", "a node has no name"},
        {"/inputs/0", R"({"name": "y"})", "there are two values `y`"},
        {"/inputs/0", R"({"name": "q"})", "an input of node `sum` is no value"},
        {"/inputs/0", R"({"tensor": null})", "has no DataType"},
        {"/inputs/0/tensor", R"({"Sizes": [-1]})", "not an unsigned integer"},
        {"/nodes/0", R"({"name": "relu"})", "there are two nodes `relu`"},
        {"/nodes/0", R"({"operator": "ELEMENT_WISE_SHUFFLE"})", "node `sum`: operator is not an operator"},
        {"/nodes/0", R"({"inputs": ["x"]})", "node `sum` has 1 `inputs` for 2 tensors"},
        {"/nodes/0", R"({"inputs": ["x", "w"]})", "an input of node `sum` is no value"},
        {"/nodes/0", R"({"outputs": []})", "node `sum` has 0 `outputs` for 1 tensors"},
        {"/nodes/0", R"({"outputs": ["normal"]})", "there are two values `normal`"},
        {"/nodes/0", R"({"outputs": [5]})", "its value has no name"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.patch);
        json message = operators::graph_to_json(some_graph());
        message[json::json_pointer(row.where)].merge_patch(json::parse(row.patch));
        const auto read = operators::graph_from_json(message);
        ASSERT_FALSE(read.has_value());
        EXPECT_NE(read.error().message.find(row.message), std::string::npos) << read.error().message;
    }
    for (const json& other : {json(), json(5), json::array(), json("graph")}) {
        EXPECT_FALSE(operators::graph_from_json(other).has_value());
    }
}

}  // namespace
}  // namespace dmlconform::tests::graph_json_test
