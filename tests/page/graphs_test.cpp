// Tests of engine/page/graphs: which graphs and nodes a page shows.
#include "engine/page/graphs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace dmlconform::page::graphs_test {
namespace {

using Json = Graphs::Json;

Json node(const std::string& graph, const std::string& name, const char* status, const char* engine = "cpu") {
    return {{"id", graph + "/" + name},
            {"operator", "DML_OPERATOR_GEMM"},
            {"engine", engine},
            {"status", status},
            {"nodeOf", graph},
            {"node", name},
            {"timing", {{"totalNanoseconds", 5000}, {"executeNanoseconds", 3000}}}};
}

Json whole(const std::string& id, const char* status, std::size_t nodes) {
    return {{"id", id},         {"operator", "GRAPH"}, {"engine", "cpu"},
            {"status", status}, {"hint", "perhaps"},   {"graph", {{"nodes", nodes}}}};
}

TEST(Graphs, HaveTheResultsOfTheirNodesByEngine) {
    Graphs graphs;
    graphs.add(node("net", "a", "pass"), 0, "FLOAT16");
    graphs.add(node("net", "a", "fail", "d3d12"), 0, "FLOAT16");
    graphs.add(node("net", "b", "pass"), 0, "FLOAT32");
    graphs.add(whole("net", "pass", 2), 0, "FLOAT32");
    Json again = node("net", "b", "fail");
    again["repetition"] = 1;
    graphs.add(again, 0, "FLOAT32");
    graphs.add({{"id", "other"}, {"engine", "cpu"}, {"status", "fail"}}, 0, "FLOAT32");
    ASSERT_EQ(graphs.size(), 1u);
    const Json shown = graphs.shown()[0];
    EXPECT_EQ(shown["id"], "net");
    EXPECT_TRUE(shown["fails"].get<bool>()) << "a node does";
    EXPECT_EQ(shown["whole"]["cpu"]["hint"], "perhaps");
    ASSERT_EQ(shown["nodes"].size(), 2u);
    EXPECT_EQ(shown["nodes"][0], Json({{"name", "a"},
                                       {"operator", "GEMM"},
                                       {"type", "FLOAT16"},
                                       {"results",
                                        {{"cpu", {{"status", "pass"}, {"seconds", 3e-6}}},
                                         {"d3d12", {{"status", "fail"}, {"seconds", 3e-6}}}}}}));
    EXPECT_EQ(shown["nodes"][1]["results"]["cpu"]["status"], "pass");
}

TEST(Graphs, ShowThoseThatFailBeforeTheLargest) {
    Graphs graphs;
    for (std::size_t i = 0; i < most_graphs + 5; ++i) {
        const std::string id = fmt::format("net{}", i);
        for (std::size_t n = 0; n <= i; ++n) {
            graphs.add(node(id, fmt::format("n{}", n), "pass"), 0, "FLOAT32");
        }
    }
    graphs.add(whole("net3", "fail", 4), 0, "FLOAT32");
    const Json shown = graphs.shown();
    EXPECT_EQ(graphs.size(), most_graphs + 5);
    ASSERT_EQ(shown.size(), most_graphs);
    EXPECT_EQ(shown[0]["id"], "net3");
    EXPECT_EQ(shown[1]["id"], fmt::format("net{}", most_graphs + 4));
}

TEST(Graphs, AreKeptByFile) {
    Graphs graphs;
    graphs.add(node("net", "a", "pass"), 0, "FLOAT32");
    graphs.add(node("net", "a", "fail"), 1, "FLOAT32");
    ASSERT_EQ(graphs.size(), 2u);
    EXPECT_EQ(graphs.shown()[0]["run"], 1u);
    EXPECT_FALSE(graphs.shown()[1]["fails"].get<bool>());
}

TEST(Graphs, CountNodesThatAreTooMany) {
    Graphs graphs;
    for (std::size_t i = 0; i < most_nodes + 3; ++i) {
        graphs.add(node("net", fmt::format("n{}", i), i == most_nodes + 2 ? "fail" : "pass"), 0, "FLOAT32");
    }
    const Json shown = graphs.shown()[0];
    EXPECT_EQ(shown["nodes"].size(), most_nodes);
    EXPECT_EQ(shown["leftOut"], 3u);
    EXPECT_TRUE(shown["fails"].get<bool>());
}

}  // namespace
}  // namespace dmlconform::page::graphs_test
