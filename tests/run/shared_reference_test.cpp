// Tests of results of the reference that the cases of a graph and of its nodes share.
#include "engine/cases/shared_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/cases/case_file.h"
#include "engine/cpu/graph_reference.h"
#include "engine/engine_lost.h"
#include "engine/run/node_cases.h"
#include "engine/run/node_values.h"
#include "engine/run/reference_source.h"
#include "engine/run/runner.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"
#include "tests/run/fake_engine.h"

namespace dmlconform::tests::shared_reference_test {
namespace {

using cpu::Reference;
using run::GraphCase;

/// Two convolutions, of which the second one computes its runs at once, a reshape between them, a node that decides,
/// and values that two nodes read.
std::shared_ptr<const operators::Descriptor> graph() {
    const auto convolution = [](const core::TensorDesc& image) {
        return plain_convolution(image, real({8, 8, 1, 1}), image);
    };
    const auto layout = real({1, 8, 16, 64});
    return graph_of(
        {{"first", convolution(real({1, 8, 32, 32})), {"x", "w", ""}, {"a"}},
         unary("tanh", "ACTIVATION_TANH", real({1, 8, 32, 32}), "a", "b"),
         {"second", convolution(layout), {"b", "v", ""}, {"c"}},
         unary("floor", "ELEMENT_WISE_FLOOR", layout, "c", "d"),
         unary("exp", "ELEMENT_WISE_EXP", layout, "c", "e"),
         {"sum",
          describe("ELEMENT_WISE_ADD", {{"ATensor", layout}, {"BTensor", layout}, {"OutputTensor", layout}}),
          {"d", "e"},
          {"y"}}},
        {"y", "c"});
}

std::shared_ptr<const cases::Case> subject() {
    auto result = std::make_shared<cases::Case>();
    result->id = "file/graph";
    result->descriptor = graph();
    std::uint32_t seed = 0;
    for (const operators::TensorSlot& slot : result->descriptor->inputs()) {
        std::vector<float> values(slot.desc->total_bytes / sizeof(float));
        for (float& value : values) {
            seed = seed * 1664525 + 1013904223;
            value = static_cast<float>(seed >> 8) / 8388608.0F - 1;
        }
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        result->inputs.emplace_back(cases::given_elements(std::move(bytes)));
    }
    result->expected.resize(2);
    result->tolerances.resize(2);
    return result;
}

GraphCase together(std::uint64_t memory = std::uint64_t{1} << 40) {
    return GraphCase(subject(), memory, GraphCase::Judged::together);
}

std::optional<Reference> shared_by(const std::shared_ptr<const cases::Case>& asking) {
    return asking->reference == nullptr ? std::nullopt : asking->reference->take_for(*asking);
}

/// What the case computes without sharing.
Reference computed_alone(const cases::Case& asking) {
    std::vector<core::Tensor> inputs;
    std::vector<const core::Tensor*> pointers;
    const auto slots = asking.descriptor->inputs();
    inputs.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            pointers.push_back(nullptr);
            continue;
        }
        EXPECT_TRUE(asking.inputs[i]->fill(inputs.emplace_back(*slots[i].desc)));
        pointers.push_back(&inputs.back());
    }
    return cpu::compute_reference(*asking.descriptor, pointers);
}

void expect_same(const std::optional<Reference>& shared, const Reference& alone) {
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->undecided, alone.undecided);
    ASSERT_EQ(shared->outputs.size(), alone.outputs.size());
    for (std::size_t i = 0; i < alone.outputs.size(); ++i) {
        EXPECT_TRUE(std::ranges::equal(shared->outputs[i].buffer.bytes(), alone.outputs[i].buffer.bytes()));
        EXPECT_EQ(shared->slack[i].below, alone.slack[i].below);
        EXPECT_EQ(shared->slack[i].above, alone.slack[i].above);
        EXPECT_EQ(shared->slack[i].sigma, alone.slack[i].sigma);
        EXPECT_EQ(shared->slack[i].nan, alone.slack[i].nan);
        EXPECT_EQ(shared->slack[i].finite, alone.slack[i].finite);
    }
}

constexpr std::size_t node_count = 6;

TEST(SharedReference, IsWhatEachCaseComputesAlone) {
    const GraphCase graph = together();
    const GraphCase apart(subject());
    for (std::size_t n = 0; n < node_count; ++n) {
        expect_same(shared_by(graph.node(n)), computed_alone(*apart.node(n)));
    }
    expect_same(shared_by(graph.whole()), computed_alone(*apart.whole()));
}

TEST(SharedReference, IsTheSameInAnyOrder) {
    const GraphCase graph = together();
    const GraphCase apart(subject());
    expect_same(shared_by(graph.whole()), computed_alone(*apart.whole()));
    for (std::size_t n = node_count; n-- > 0;) {
        expect_same(shared_by(graph.node(n)), computed_alone(*apart.node(n)));
    }
}

TEST(SharedReference, IsGivenOnceAndToNoCopy) {
    const GraphCase graph = together();
    const auto node = graph.node(2);
    const auto copy = std::make_shared<const cases::Case>(*node);
    EXPECT_FALSE(shared_by(copy));
    EXPECT_TRUE(shared_by(node));
    EXPECT_FALSE(shared_by(node));
    EXPECT_TRUE(shared_by(graph.whole()));
    EXPECT_FALSE(shared_by(graph.whole()));
}

TEST(SharedReference, RangesThatDoNotFitAreForgotten) {
    const auto whole = subject();
    run::NodeValues values(whole, std::uint64_t{1} << 40);
    values.compute_together(std::vector<bool>(node_count, true), 2, 1);
    EXPECT_TRUE(values.take(4));
    EXPECT_FALSE(values.take(0));
    EXPECT_TRUE(values.take(5));
    EXPECT_TRUE(values.take_whole());
}

TEST(SharedReference, ThereIsNoneWithoutMemoryForIt) {
    const GraphCase graph = together(1);
    EXPECT_EQ(graph.node(0)->reference, nullptr);
    EXPECT_EQ(graph.whole()->reference, nullptr);
}

TEST(SharedReference, CasesThatDoNotNeedRunsHaveNone) {
    auto stated = std::make_shared<cases::Case>(*subject());
    for (auto& tolerance : stated->tolerances) {
        tolerance.emplace();
        tolerance->abs = 1;
    }
    const GraphCase graph(stated, std::uint64_t{1} << 40, GraphCase::Judged::together);
    EXPECT_EQ(graph.whole()->reference, nullptr);
}

TEST(SharedReference, EndsWithTheRun) {
    bool stop = true;
    run::end_references_if([&] { return stop; });
    const GraphCase graph = together();
    EXPECT_THROW(static_cast<void>(shared_by(graph.node(1))), EngineLost);
    stop = false;
    EXPECT_TRUE(shared_by(graph.node(1)));
    run::end_references_if({});
}

// ---- in runs ------------------------------------------------------------------------------------------------------

constexpr std::string_view text = R"({ "cases": [ { "name": "g", "graph": { "nodes": [
  { "name": "exp", "operator": "ELEMENT_WISE_EXP",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } },
    "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "t" } },
  { "name": "tanh", "operator": "ACTIVATION_TANH",
    "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] },
              "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } },
    "inputs": { "InputTensor": "t" }, "outputs": { "OutputTensor": "y" } } ],
  "outputs": ["y"] }, "inputs": { "x": [1, -2, 3, -4] } } ] })";

class Results final : public run::Observer {
public:
    void on_case(const cases::Case& /*subject*/, std::size_t /*position*/) override {}
    void on_result(const run::CaseResult& result) override { all.push_back(result); }

    std::vector<run::CaseResult> all;
};

std::vector<run::CaseResult> run_on(std::unique_ptr<Engine> engine, const run::Selector& selector = {}) {
    const cases::Corpus cases = cases::read_corpus("file.json", text);
    std::vector<run::EngineSet> sets(1);
    sets[0].push_back(std::move(engine));
    Results results;
    (void)run::run_cases(run::selected_cases(cases, selector, run::Nodes::judged), sets, results);
    return results.all;
}

std::vector<run::CaseResult> run_selected(const run::Selector& selector) {
    return run_on(std::make_unique<FakeEngine>(Behaviour()), selector);
}

/// Runs all operators, but no graphs.
class WithoutGraphs final : public FakeEngine {
public:
    WithoutGraphs() : FakeEngine(Behaviour()) {}

    [[nodiscard]] std::optional<std::string> unsupported_graph(const operators::Descriptor& /*graph*/) const override {
        return "no graphs";
    }
};

/// Neither the graph, which is last, nor its nodes share a reference.
void expect_nothing_shared(const std::vector<run::CaseResult>& results, run::Status of_nodes, run::Status of_graph) {
    ASSERT_EQ(results.size(), 3U);
    for (const run::CaseResult& result : results) {
        EXPECT_EQ(result.subject->reference, nullptr);
        EXPECT_EQ(result.status, &result == &results.back() ? of_graph : of_nodes);
    }
}

TEST(SharedReference, RunsTakeIt) {
    const auto results = run_selected({});
    ASSERT_EQ(results.size(), 3U);
    for (const run::CaseResult& result : results) {
        EXPECT_EQ(result.status, run::Status::pass);
        ASSERT_NE(result.subject->reference, nullptr);
        EXPECT_FALSE(shared_by(result.subject));
    }
}

TEST(SharedReference, NodesAloneNeedNoRunsOfTheGraph) {
    run::Selector selector;
    selector.filters = {"file/g/*"};
    const auto results = run_selected(selector);
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].subject->reference, nullptr);
}

TEST(SharedReference, NobodyNeedsTheRunsOfAGraphThatIsSkipped) {
    expect_nothing_shared(run_on(std::make_unique<WithoutGraphs>()), run::Status::pass, run::Status::skip);
}

TEST(SharedReference, TheReferenceItselfNeedsNoRuns) {
    Behaviour reference;
    reference.name = "cpu";
    expect_nothing_shared(run_on(std::make_unique<FakeEngine>(reference)), run::Status::reference,
                          run::Status::reference);
}

}  // namespace
}  // namespace dmlconform::tests::shared_reference_test
