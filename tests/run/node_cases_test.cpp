// Tests of running the nodes of a graph as separate cases, and of combining both verdicts.
#include "engine/run/node_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/cases/case_file.h"
#include "engine/run/graph_verdicts.h"
#include "engine/run/runner.h"
#include "tests/run/fake_engine.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {
namespace node_cases_test {
namespace {

using run::CaseResult;
using run::Status;

/// y = |relu(x)|, and a second relu that equals the first.
constexpr std::string_view text = R"({ "cases": [ { "name": "g", "tags": ["some"], "graph": { "nodes": [
  { "name": "relu", "operator": "ACTIVATION_RELU",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } },
    "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "t" } },
  { "name": "abs", "operator": "ELEMENT_WISE_ABS",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2,2] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2,2] } },
    "inputs": { "InputTensor": "t" }, "outputs": { "OutputTensor": "y" } },
  { "name": "same", "operator": "ACTIVATION_RELU",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } },
    "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "z" } } ],
  "outputs": ["y", "z"] }, "inputs": { "x": [1, -2, 3, -4] } } ] })";

cases::Corpus corpus(std::string_view file = text) {
    cases::Corpus read = cases::read_corpus("file.json", file);
    if (!read.problems.empty()) {
        throw std::logic_error(cases::to_string(read.problems.front()));
    }
    return read;
}

class Results final : public run::Observer {
public:
    void on_case(const cases::Case& /*subject*/, std::size_t /*position*/) override {}
    void on_result(const CaseResult& result) override { all.push_back(result); }

    std::vector<CaseResult> all;
};

std::vector<CaseResult> run_on(const Behaviour& behaviour, const run::Selector& selector = {},
                               const cases::Corpus& cases = corpus()) {
    std::vector<run::EngineSet> sets(1);
    sets[0].push_back(std::make_unique<FakeEngine>(behaviour));
    Results results;
    (void)run::run_cases(run::selected_cases(cases, selector, run::Nodes::judged), sets, results);
    return results.all;
}

std::vector<std::string> ids_of(const std::vector<CaseResult>& results) {
    std::vector<std::string> ids;
    for (const CaseResult& result : results) {
        ids.push_back(result.subject->id);
    }
    return ids;
}

TEST(NodeCases, EachNodeIsJudgedOnceAndThenTheGraph) {
    const auto results = run_on({});
    EXPECT_THAT(ids_of(results), testing::ElementsAre("file/g/relu", "file/g/abs", "file/g"));
    for (const CaseResult& result : results) {
        EXPECT_EQ(result.status, Status::pass) << message_of(result);
    }
    EXPECT_EQ(results[0].subject->graph_id, "file/g");
    EXPECT_EQ(results[0].subject->node_name, "relu");
    EXPECT_EQ(results[0].subject->tags, (std::vector<std::string>{"some"}));
}

TEST(NodeCases, ReadTheReferencesValues) {
    const cases::Corpus cases = corpus();
    const run::Selector selector;
    const auto source = run::selected_cases(cases, selector, run::Nodes::judged);
    ASSERT_EQ(source.positions, 4U);
    const auto abs = source.reader([](const cases::Case&) { return true; })(1);
    ASSERT_NE(abs, nullptr);
    core::Tensor input(*abs->descriptor->inputs()[0].desc);
    ASSERT_TRUE(abs->inputs[0]->fill(input));
    EXPECT_EQ(values_of<float>(input), (std::vector<float>{1, 0, 3, 0}));
}

TEST(NodeCases, AFilterForTheGraphChoosesItsNodesToo) {
    run::Selector selector;
    selector.filters = {"file/g"};
    EXPECT_EQ(run_on({}, selector).size(), 3U);
    selector.filters = {"*/abs"};
    EXPECT_THAT(ids_of(run_on({}, selector)), testing::ElementsAre("file/g/abs"));
}

/// An engine that is wrong for nodes of one rank.
Behaviour wrong_at_rank(std::size_t rank) {
    Behaviour behaviour;
    behaviour.change = [rank](std::span<core::Tensor* const> outputs) {
        if (outputs[0]->desc.sizes.size() == rank) {
            outputs[0]->as<float>()[0] += 1;
        }
    };
    return behaviour;
}

TEST(NodeCases, TheReportNamesTheNodeThatIsWrong) {
    const auto results = run_on(wrong_at_rank(2));
    ASSERT_EQ(results.size(), 3U);
    EXPECT_EQ(results[0].status, Status::pass);
    EXPECT_EQ(results[1].status, Status::fail);
    EXPECT_EQ(results[2].status, Status::fail);
    EXPECT_EQ(results[2].hint, "node `abs` is wrong by itself");
}

TEST(NodeCases, NodesAreJudgedInTheOrderOfExecutionAndNotInThatOfTheFile) {
    nlohmann::ordered_json reversed = nlohmann::ordered_json::parse(text);
    auto& graph = reversed["cases"][0]["graph"];
    graph["nodes"] = {graph["nodes"][1], graph["nodes"][0]};
    graph["outputs"] = {"y"};
    Behaviour wrong_everywhere;
    wrong_everywhere.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->as<float>()[0] += 1; };
    const auto results = run_on(wrong_everywhere, {}, corpus(reversed.dump()));
    EXPECT_THAT(ids_of(results), testing::ElementsAre("file/g/relu", "file/g/abs", "file/g"));
    EXPECT_THAT(results.back().nodes->wrong, testing::ElementsAre("relu", "abs"));
}

/// An engine that is wrong only for whole graphs, as if it fused nodes wrongly.
class WrongFusion final : public Engine {
public:
    [[nodiscard]] const EngineInfo& info() const override { return engine_.info(); }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override {
        return engine_.unsupported(descriptor);
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        return engine_.compile(descriptor);
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph) override {
        return wrong_.compile_graph(graph);
    }

private:
    FakeEngine engine_{{}};
    FakeEngine wrong_{wrong_at_rank(2)};
};

TEST(NodeCases, TheReportSaysThatOnlyTheGraphIsWrong) {
    const cases::Corpus cases = corpus();
    const run::Selector selector;
    std::vector<run::EngineSet> sets(1);
    sets[0].push_back(std::make_unique<WrongFusion>());
    Results results;
    run::RunSettings settings;
    (void)run::run_cases(run::selected_cases(cases, selector, run::Nodes::judged), sets, results, settings);
    EXPECT_EQ(results.all.back().status, Status::fail);
    EXPECT_EQ(results.all.back().hint,
              "all 2 nodes are right by themselves, the graph is not: `--graph-mode nodes` runs it one operator at a "
              "time");
    settings.cases.graph_mode = run::GraphMode::nodes;
    Results one_by_one;
    (void)run::run_cases(run::selected_cases(cases, selector, run::Nodes::judged), sets, one_by_one, settings);
    EXPECT_EQ(one_by_one.all.back().status, Status::pass) << message_of(one_by_one.all.back());
}

/// A node that the engine does not support may be the one that is wrong.
TEST(NodeCases, TheReportNamesNodesThatWereNotJudged) {
    const cases::Corpus cases = corpus();
    run::GraphVerdicts verdicts;
    const auto hear = [&](std::shared_ptr<const cases::Case> subject, Status status) {
        run::CaseResult result;
        result.subject = std::move(subject);
        result.finish(status, "");
        verdicts.hear(result);
        return result.hint;
    };
    const auto graph = std::make_shared<const cases::Case>(*cases::CorpusReader(cases).at(0));
    const run::GraphCase nodes(graph);
    hear(nodes.node(0), Status::pass);
    hear(nodes.node(1), Status::skip);
    EXPECT_EQ(hear(graph, Status::fail), "1 of 2 nodes is right by itself, and `abs` was not judged");
}

TEST(NodeCases, SeveralThreadsShareAGraph) {
    const cases::Corpus cases = corpus();
    const run::Selector selector;
    std::vector<run::EngineSet> sets(4);
    for (run::EngineSet& set : sets) {
        set.push_back(std::make_unique<FakeEngine>(Behaviour()));
    }
    Results results;
    run::RunSettings settings;
    settings.repeat = 50;
    (void)run::run_cases(run::selected_cases(cases, selector, run::Nodes::judged), sets, results, settings);
    EXPECT_EQ(results.all.size(), 150U);
    for (const CaseResult& result : results.all) {
        EXPECT_EQ(result.status, Status::pass);
    }
}

TEST(NodeCases, ValuesThatDoNotFitComeFromAFile) {
    const cases::Corpus cases = corpus();
    cases::CorpusReader reader(cases);
    const auto whole = std::make_shared<const cases::Case>(*reader.at(0));
    const run::GraphCase tight(whole, 1);
    // Twice: the first time values are computed, the second time read.
    for (int time = 0; time < 2; ++time) {
        for (const std::size_t node : {1u, 0u}) {
            const auto subject = tight.node(node);
            ASSERT_NE(subject, nullptr);
            core::Tensor input(*subject->descriptor->inputs()[0].desc);
            ASSERT_TRUE(subject->inputs[0]->fill(input));
            const auto expected = node == 0 ? std::vector<float>{1, -2, 3, -4} : std::vector<float>{1, 0, 3, 0};
            EXPECT_EQ(values_of<float>(input), expected) << node;
        }
    }
}

}  // namespace
}  // namespace node_cases_test
}  // namespace dmlconform::tests
