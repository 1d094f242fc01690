// Tests reading and writing graphs in case files, and the message for every mistake.
#include "engine/cases/graph_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/operators/rules.h"
#include "tests/cases/reading.h"

namespace dmlconform::tests {
namespace graph_reader_test {
namespace {

/// A node with one input and one output.
std::string node(std::string_view name, std::string_view from, std::string_view to,
                 std::string_view desc = R"({ "DataType": "FLOAT32", "Sizes": [4] })") {
    return fmt::format(R"({{ "name": "{}", "operator": "ACTIVATION_RELU",
        "desc": {{ "InputTensor": {}, "OutputTensor": {} }},
        "inputs": {{ "InputTensor": {} }}, "outputs": {{ "OutputTensor": "{}" }} }})",
                       name, desc, desc, from.starts_with('{') ? std::string(from) : fmt::format("\"{}\"", from), to);
}

std::string graph(const std::vector<std::string>& nodes, std::string_view rest = R"("outputs": ["y"])") {
    return fmt::format(R"({{ "nodes": [{}], {} }})", fmt::join(nodes, ", "), rest);
}

std::string file(const std::string& graph_text, std::string_view rest = R"("inputs": { "x": [1, -2, 3, -4] })") {
    return fmt::format(R"({{ "cases": [{{ "name": "g", "graph": {}, {} }}] }})", graph_text, rest);
}

cases::Suite read(const std::string& text) {
    return cases::read_case_file("graphs.json", text);
}

std::string problems_of(const std::string& graph_text, std::string_view rest = R"("inputs": { "x": [1, -2, 3, -4] })") {
    return all_text(read(file(graph_text, rest)).problems);
}

TEST(GraphReader, ReadsNodesValuesAndConstants) {
    const cases::Suite suite =
        read(file(graph({node("b", "t", "y"), node("a", "x", "t")}, R"("outputs": ["y", "t"], "constants": ["x"])")));
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    ASSERT_EQ(suite.cases.size(), 1U);
    const operators::Graph& read_graph = *suite.cases[0].descriptor->graph;
    EXPECT_EQ(read_graph.nodes.size(), 2U);
    EXPECT_EQ(read_graph.execution_order(), (std::vector<std::size_t>{1, 0}));
    EXPECT_TRUE(read_graph.values[*read_graph.find_value("x")].is_constant);
    EXPECT_EQ(suite.cases[0].inputs.size(), 1U);
    EXPECT_EQ(suite.cases[0].expected.size(), 2U);
}

TEST(GraphReader, IsReadAsItIsWritten) {
    const std::string as_integers = R"({ "value": "t", "reinterpret": true })";
    const cases::Suite suite = read(
        file(graph({node("a", "x", "t"), node("b", as_integers, "y", R"({ "DataType": "FLOAT16", "Sizes": [8] })")},
                   R"("outputs": ["y"], "constants": ["x"])"),
             R"("inputs": { "x": [1, -2, 3, -4] }, "tolerance": { "y": { "ulp": 3 } }, "tags": ["a"])"));
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    const auto written = cases::case_to_json(suite.cases[0]);
    ASSERT_TRUE(written);
    const cases::Suite again = read(cases::case_file_text("", {&*written, 1}));
    ASSERT_TRUE(again.problems.empty()) << all_text(again.problems);
    EXPECT_EQ(to_lines(*again.cases[0].descriptor), to_lines(*suite.cases[0].descriptor));
    EXPECT_EQ(*cases::case_to_json(again.cases[0]), *written);
}

TEST(GraphReader, SweepsReplaceValuesInNodes) {
    const cases::Suite suite =
        read(file(graph({node("a", "x", "y", R"({ "DataType": "${T}", "Sizes": [4] })")}),
                  R"("sweep": { "T": ["FLOAT32", "FLOAT16"] }, "inputs": { "x": [1, -2, 3, -4] })"));
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    ASSERT_EQ(suite.cases.size(), 2U);
    EXPECT_EQ(suite.cases[1].id, "graphs/g[T=FLOAT16]");
}

TEST(GraphReader, NeedsTheLevelOfItsNodes) {
    const std::string with_level =
        file(graph({node("a", "x", "y")}), R"("minFeatureLevel": "3.0", "inputs": { "x": [1, -2, 3, -4] })");
    const cases::Suite suite = read(with_level);
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    EXPECT_EQ(core::to_string(suite.cases[0].min_feature_level), "3.0");
}

TEST(GraphReader, AnUnknownValueIsAnInputWithoutData) {
    EXPECT_TRUE(contains(
        problems_of(graph({node("a", "x", "there"), node("b", "theer", "y")}, R"("outputs": ["y", "there"])")),
        "/cases/0/graph/nodes/1: node `b` reads `theer`, which no node writes, and \"inputs\" has no data for it "
        "[did you mean `there`?]"));
    // Without it, nobody reads the outputs of `a`. That is no reason to blame `a`.
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "there"), node("b", "theer", "y")})),
                         "nodes/1: node `b` reads `theer`, which no node writes"));
    EXPECT_TRUE(
        contains(problems_of(graph({node("a", "other", "y")})), "node `a` reads `other`, which no node writes"));
}

TEST(GraphReader, RejectsTwoProducers) {
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "y"), node("b", "x", "y")})),
                         "nodes \"a\" and \"b\" both write \"y\""));
}

TEST(GraphReader, RejectsTwoNodesOfOneName) {
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "t"), node("a", "t", "y")})), "two nodes are called \"a\""));
}

TEST(GraphReader, RejectsACycleAndNamesItsNodes) {
    EXPECT_TRUE(contains(
        problems_of(graph({node("a", "x", "u"), node("b", "d", "c"), node("c", "c", "y"), node("d", "y", "d")})),
        "the nodes form a cycle: `b` -> `c` -> `d`, each of which reads what the one before it writes"));
}

TEST(GraphReader, RejectsAnUnusedNode) {
    EXPECT_TRUE(
        contains(problems_of(graph({node("a", "x", "y"), node("lost", "x", "z")})),
                 "/cases/0/graph/nodes/1: the graph is illegal: node `lost` is not needed: no node reads its outputs"));
}

TEST(GraphReader, RejectsAMissingInput) {
    const std::string without = R"({ "name": "a", "operator": "ACTIVATION_RELU",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] },
                  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } }, "outputs": { "OutputTensor": "y" } })";
    EXPECT_TRUE(contains(problems_of(graph({without})), "node `a` does not say which value InputTensor is"));
}

TEST(GraphReader, RejectsSizesThatDiffer) {
    EXPECT_TRUE(contains(
        problems_of(graph({node("a", "x", "t"), node("b", "t", "y", R"({ "DataType": "FLOAT32", "Sizes": [5] })")})),
        "the graph is illegal: InputTensor of node `b` has 20 bytes, but `t` has 16"));
}

TEST(GraphReader, RejectsTypesThatDifferUnlessTheBitsAreMeant) {
    const std::string half = R"({ "DataType": "FLOAT16", "Sizes": [8] })";
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "t"), node("b", "t", "y", half)})),
                         "`t` is FLOAT32, but InputTensor of node `b` is FLOAT16"));
    EXPECT_EQ(
        problems_of(graph({node("a", "x", "t"), node("b", R"({ "value": "t", "reinterpret": true })", "y", half)})),
        "");
}

TEST(GraphReader, RejectsAnOutputThatNobodyMakes) {
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "why")}, R"("outputs": ["wy"])")),
                         "output `wy` is written by no node [did you mean `why`?]"));
}

TEST(GraphReader, RejectsAConstantThatANodeWrites) {
    EXPECT_TRUE(contains(
        problems_of(graph({node("a", "x", "t"), node("b", "t", "y")}, R"("outputs": ["y"], "constants": ["t"])")),
        "constant `t` is written by node `a`"));
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "y")}, R"("outputs": ["y"], "constants": ["z"])")),
                         "constant `z` is read by no node"));
}

TEST(GraphReader, RejectsDataForWhatIsComputed) {
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "t"), node("b", "t", "y")}),
                                     R"("inputs": { "x": [1, 2, 3, 4], "t": [1, 2, 3, 4] })"),
                         "/inputs/t"));
}

TEST(GraphReader, RejectsAnOperatorBesideAGraph) {
    EXPECT_TRUE(contains(
        problems_of(graph({node("a", "x", "y")}), R"("operator": "ACTIVATION_RELU", "inputs": { "x": [1, 2, 3, 4] })"),
        "\"operator\" and \"graph\" exclude each other"));
}

TEST(GraphReader, RejectsWhatIsNoGraph) {
    for (const char* text :
         {"7", "[]", "{}", R"({ "nodes": [] })", R"({ "nodes": {} })", R"({ "nodes": [7], "outputs": ["y"] })",
          R"({ "nodes": [{}], "outputs": ["y"] })", R"({ "nodes": [{ "name": "a b" }], "outputs": 3 })"}) {
        EXPECT_FALSE(read(file(text)).problems.empty()) << text;
    }
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "y")}, R"("outputs": [])")), "a graph needs \"outputs\""));
    EXPECT_TRUE(contains(problems_of(graph({node("a", "x", "y")}, R"("outputs": ["y", "y"])")), "names `y` twice"));
    EXPECT_TRUE(contains(problems_of(graph({node("a", "a b", "y")})), "\"a b\" is not a name for a value"));
}

TEST(GraphReader, AnIllegalGraphMayBeExpected) {
    const cases::Suite suite =
        read(file(graph({node("a", "x", "t"), node("b", "t", "y", R"({ "DataType": "FLOAT32", "Sizes": [5] })")}),
                  R"("expectError": "E_INVALIDARG")"));
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    EXPECT_TRUE(operators::validate(*suite.cases[0].descriptor, core::highest_feature_level));
}

}  // namespace
}  // namespace graph_reader_test
}  // namespace dmlconform::tests
