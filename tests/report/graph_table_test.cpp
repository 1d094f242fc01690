// Tests of engine/report/graph_table: the nodes of a graph sorted by time, and the first wrong one.
#include "engine/report/graph_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph_builder.h"

namespace dmlconform::tests::graph_table_test {
namespace {

using core::DataType;
using run::Status;
using testing::HasSubstr;
using testing::Not;

const core::TensorDesc image = tensor(DataType::float32, {1, 2, 3, 4});

run::CaseResult result_of(const std::string& id, std::shared_ptr<const operators::Descriptor> descriptor,
                          const std::string& graph_id, Status status, int microseconds, double fraction) {
    cases::Case subject;
    subject.id = id;
    subject.graph_id = graph_id;
    subject.node_name = id.substr(id.rfind('/') + 1);
    subject.descriptor = std::move(descriptor);
    run::CaseResult result;
    result.subject = std::make_shared<const cases::Case>(std::move(subject));
    result.status = status;
    result.timing.execute = std::chrono::microseconds(microseconds);
    result.outputs.emplace_back().comparison.largest_fraction = fraction;
    return result;
}

std::string table_of(const std::vector<run::CaseResult>& results, bool every_row = false) {
    report::GraphTables tables;
    EngineInfo engine;
    engine.name = "other";
    EXPECT_TRUE(tables.begin({}, {&engine, 1}));
    for (const run::CaseResult& result : results) {
        EXPECT_TRUE(tables.add(result));
    }
    return tables.text(report::ConsoleStyle(false), 0, every_row);
}

std::shared_ptr<const operators::Descriptor> relu() {
    return std::make_shared<const operators::Descriptor>(
        describe("ACTIVATION_RELU", {{"InputTensor", image}, {"OutputTensor", image}}));
}

TEST(GraphTables, ShowTheSlowestNodesFirst) {
    const auto whole = graph_of(
        {unary("a", "ACTIVATION_RELU", image, "x", "y"), unary("b", "ACTIVATION_RELU", image, "y", "z")}, {"z"});
    const std::string text = table_of({result_of("net/model/a", relu(), "net/model", Status::pass, 100, 0.5),
                                       result_of("net/model/b", relu(), "net/model", Status::pass, 300, 0.25),
                                       result_of("net/model", whole, "", Status::pass, 350, 0.125)});
    EXPECT_LT(text.find("\nb "), text.find("\na "));
    EXPECT_THAT(text, HasSubstr("1x2x3x4"));
    EXPECT_THAT(text, HasSubstr("75.0 %"));
    EXPECT_THAT(text, HasSubstr("0.5 of range"));
    EXPECT_THAT(text, HasSubstr("other: 2 nodes, 2 distinct: 2 pass.  Whole graph: pass (0.12 of the allowed range)"));
    EXPECT_THAT(text, Not(HasSubstr("wrong")));
}

TEST(GraphTables, ShowNoShareOfTheRangeForAGraphThatFails) {
    const auto whole = graph_of({unary("a", "ACTIVATION_RELU", image, "x", "y")}, {"y"});
    const std::string text = table_of({result_of("net/model/a", relu(), "net/model", Status::pass, 100, 0.5),
                                       result_of("net/model", whole, "", Status::fail, 350, 0)});
    EXPECT_THAT(text, HasSubstr("Whole graph: fail, 350"));
}

TEST(GraphTables, CountIdenticalNodes) {
    const auto whole =
        graph_of({unary("a", "ACTIVATION_RELU", image, "x", "y"), unary("b", "ACTIVATION_RELU", image, "x", "z"),
                  unary("c", "ACTIVATION_RELU", image, "z", "u"), unary("d", "ACTIVATION_RELU", image, "x", "v")},
                 {"y", "u", "v"});
    const std::string text = table_of({result_of("net/model/a", relu(), "net/model", Status::pass, 100, 0.5),
                                       result_of("net/model/c", relu(), "net/model", Status::pass, 300, 0.25),
                                       result_of("net/model", whole, "", Status::pass, 350, 0.125)});
    EXPECT_THAT(text, HasSubstr("\na (x3) "));
    EXPECT_THAT(text, HasSubstr("\nc "));
    EXPECT_THAT(text, HasSubstr("other: 4 nodes, 2 distinct: 2 pass."));
}

TEST(GraphTables, NameTheFirstWrongNodeOfTheGraphsOrder) {
    std::vector<run::CaseResult> results;
    for (int i = 0; i < 50; ++i) {
        const bool wrong = i == 30 || i == 40;
        results.push_back(result_of("net/model/n" + std::to_string(i), relu(), "net/model",
                                    wrong ? Status::fail : Status::pass, 1000 - i, 2));
    }
    const std::string text = table_of(results);
    EXPECT_THAT(text, HasSubstr("other: the first wrong node is n30 (ACTIVATION_RELU)"));
    EXPECT_LT(text.find("\nn30 "), text.find("\nn0 "));
    EXPECT_THAT(text, HasSubstr("\nn40 "));
    EXPECT_THAT(text, HasSubstr("30 more nodes"));
    EXPECT_THAT(table_of(results, true), HasSubstr("\nn49 "));
    // There is no result of the graph, as after an interruption.
    EXPECT_THAT(text, HasSubstr("other: 50 distinct nodes: 2 fail, 48 pass.  The whole graph was not judged.\n"));
}

TEST(GraphTables, CountOneNodeAndItsOperations) {
    const auto whole = graph_of({unary("a", "ACTIVATION_RELU", image, "x", "y")}, {"y"});
    const std::string text = table_of({result_of("net/model/a", relu(), "net/model", Status::pass, 100, 0.5),
                                       result_of("net/model", whole, "", Status::pass, 350, 0.125)});
    EXPECT_THAT(text, HasSubstr("other: 1 node, 1 distinct: 1 pass."));
    // One operation for each of 1 x 2 x 3 x 4 elements.
    EXPECT_THAT(text, HasSubstr(", 24 operations\n"));
}

/// Steps of 0, for example, would divide by it.
TEST(GraphTables, CountNoOperationsOfWhatIsRejected) {
    for (const char* field : {"Strides", "Dilations"}) {
        const auto convolution = with(plain_convolution(image, tensor(DataType::float32, {2, 2, 1, 1}), image),
                                      {{field, std::vector<std::uint32_t>{0, 0}}});
        const auto whole = graph_of({{"a", convolution, {"x", "w", ""}, {"y"}}}, {"y"});
        const std::string text = table_of({result_of("net/model/a", relu(), "net/model", Status::pass, 100, 0.5),
                                           result_of("net/model", whole, "", Status::pass, 350, 0.125)});
        EXPECT_THAT(text, HasSubstr("other: 1 node")) << field;
        EXPECT_THAT(text, Not(HasSubstr("operations\n"))) << field;
    }
}

TEST(GraphTables, SayWhatShareOfAModelTheyShow) {
    const auto whole = graph_of({unary("a", "ACTIVATION_RELU", image, "x", "y")}, {"y"});
    run::CaseResult result = result_of("net/model", whole, "", Status::pass, 350, 0.125);
    cases::Case subject = *result.subject;
    subject.description = "ONNX model, 1 of 2 nodes (50 %), 90 % of the operations";
    result.subject = std::make_shared<const cases::Case>(subject);
    EXPECT_THAT(table_of({result_of("net/model/a", relu(), "net/model", Status::pass, 100, 0.5), result}),
                HasSubstr("net/model\nONNX model, 1 of 2 nodes (50 %), 90 % of the operations\n"));
}

TEST(GraphTables, AreEmptyWithoutGraphs) {
    EXPECT_EQ(table_of({result_of("other/relu", relu(), "", Status::pass, 1, 1)}), "");
}

}  // namespace
}  // namespace dmlconform::tests::graph_table_test
