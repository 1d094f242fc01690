// Tests of graphs as cases, on engines without support for graphs and on the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "engine/cpu/cpu_engine.h"
#include "engine/graph_by_nodes.h"
#include "engine/graph_values.h"
#include "engine/run/case_run.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"
#include "tests/run/fake_engine.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {
namespace graph_run_test {
namespace {

using run::CaseResult;
using run::run_case;
using run::Status;

cases::Initialiser data(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return cases::given_elements(std::move(bytes));
}

std::shared_ptr<const operators::Descriptor> gemm_relu() {
    return graph_of({{"gemm",
                      describe("GEMM", {{"ATensor", real({1, 1, 2, 2})},
                                        {"BTensor", real({1, 1, 2, 2})},
                                        {"OutputTensor", real({1, 1, 2, 2})},
                                        {"Alpha", 1}}),
                      {"a", "b", ""},
                      {"t"}},
                     unary("relu", "ACTIVATION_RELU", real({4}), "t", "y")},
                    {"y"});
}

/// a · b = [[-5, 1], [-6, 2]].
cases::Case gemm_relu_case() {
    cases::Case subject;
    subject.id = "test/gemm-relu";
    subject.descriptor = gemm_relu();
    subject.inputs = {data({1, -2, 2, -2}), data({-1, 1, 2, 0})};
    subject.expected = {data({0, 1, 0, 2})};
    subject.tolerances = {std::nullopt};
    return subject;
}

TEST(GraphRun, TheReferenceRunsItAsAWhole) {
    cpu::CpuEngine engine(core::highest_feature_level);
    const CaseResult result = run_case(gemm_relu_case(), engine);
    EXPECT_EQ(result.status, Status::pass) << message_of(result);
}

TEST(GraphRun, AnEngineThatOnlyKnowsOperatorsRunsItNodeByNode) {
    FakeEngine engine({});
    const CaseResult result = run_case(gemm_relu_case(), engine);
    EXPECT_EQ(result.status, Status::pass) << message_of(result);
}

TEST(GraphRun, TheReferenceDecidesWithoutExpectedValues) {
    cases::Case subject = gemm_relu_case();
    subject.expected = {std::nullopt};
    FakeEngine right({});
    EXPECT_EQ(run_case(subject, right).status, Status::pass);
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->as<float>()[3] += 0.001F; };
    FakeEngine wrong(behaviour);
    const CaseResult result = run_case(subject, wrong);
    EXPECT_EQ(result.status, Status::fail) << message_of(result);
}

TEST(GraphRun, AWrongNodeInTheMiddleIsSeenAtTheEnd) {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        if (outputs[0]->desc.sizes.size() == 4) {
            outputs[0]->as<float>()[3] = -2;
        }
    };
    FakeEngine engine(behaviour);
    const CaseResult result = run_case(gemm_relu_case(), engine);
    EXPECT_EQ(result.status, Status::fail);
    EXPECT_EQ(result.difference, "1 of 4: [3] 2 expected, 0 got");
}

/// A function, and an operator that says something entirely different of neighbouring numbers.
cases::Case sensitive_case(const operators::Descriptor& sensitive, std::string_view function, float x) {
    cases::Case subject;
    subject.id = "test/sensitive";
    subject.descriptor =
        graph_of({unary("f", function, real({1}), "x", "t"), {"sensitive", sensitive, {"t"}, {"y"}}}, {"y"});
    subject.inputs = {data({x})};
    subject.expected = {std::nullopt};
    subject.tolerances = {std::nullopt};
    return subject;
}

/// Runs it on an engine whose function gives `first`. `last` changes what the last node computes.
CaseResult run_otherwise(const cases::Case& subject, float first, const std::function<void(core::Tensor&)>& last) {
    Behaviour behaviour;
    int calls = 0;
    behaviour.change = [&](std::span<core::Tensor* const> outputs) {
        if (calls++ % 2 == 0) {
            outputs[0]->as<float>()[0] = first;
        } else {
            last(*outputs[0]);
        }
    };
    FakeEngine engine(behaviour);
    return run_case(subject, engine);
}

TEST(GraphRun, TheEndOfADomainIsJudgedByTheEnginesOwnValue) {
    // The reference's sigmoid is below 1, where ACOSH is NaN. 1 is the other neighbour.
    const cases::Case subject =
        sensitive_case(describe("ELEMENT_WISE_ACOSH", {{"InputTensor", real({1})}, {"OutputTensor", real({1})}}),
                       "ACTIVATION_SIGMOID", 17.021439F);
    const CaseResult right = run_otherwise(subject, 1, [](core::Tensor&) {});
    EXPECT_EQ(right.status, Status::pass) << message_of(right);
    EXPECT_EQ(right.difference, "");
    const CaseResult wrong = run_otherwise(subject, 1, [](core::Tensor& y) { y.as<float>()[0] = 0.01F; });
    EXPECT_EQ(wrong.status, Status::fail);
}

TEST(GraphRun, BitsAreJudgedByTheEnginesOwnValue) {
    const cases::Case subject =
        sensitive_case(describe("ELEMENT_WISE_BIT_COUNT",
                                {{"InputTensor", real({1})}, {"OutputTensor", tensor(core::DataType::uint8, {1})}}),
                       "ACTIVATION_TANH", 0.3F);
    const float neighbour = std::nextafter(std::tanh(0.3F), 1.0F);
    const CaseResult right = run_otherwise(subject, neighbour, [](core::Tensor&) {});
    EXPECT_EQ(right.status, Status::pass) << message_of(right);
    const CaseResult wrong = run_otherwise(subject, neighbour, [](core::Tensor& y) { ++y.as<std::uint8_t>()[0]; });
    EXPECT_EQ(wrong.status, Status::fail);
}

TEST(GraphRun, TheEndOfATypeIsJudgedByTheEnginesOwnValue) {
    // The reference's power is nearly the largest number. Others may overflow, and SOFTSIGN of infinity is NaN.
    const cases::Case subject =
        sensitive_case(describe("ACTIVATION_SOFTSIGN", {{"InputTensor", real({1})}, {"OutputTensor", real({1})}}),
                       "ELEMENT_WISE_EXP", 88.72283F);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const CaseResult right = run_otherwise(subject, infinity, [](core::Tensor&) {});
    EXPECT_EQ(right.status, Status::pass) << message_of(right);
    const CaseResult wrong = run_otherwise(subject, infinity, [](core::Tensor& y) { y.as<float>()[0] = 0; });
    EXPECT_EQ(wrong.status, Status::fail);
}

TEST(GraphRun, AStrayWriteInTheMiddleNamesTheNode) {
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) {
        outputs[0]->buffer.bytes()[static_cast<std::size_t>(outputs[0]->desc.total_bytes)] = std::byte{0};
    };
    FakeEngine engine(behaviour);
    const CaseResult result = run_case(gemm_relu_case(), engine);
    EXPECT_EQ(result.status, Status::error);
    EXPECT_EQ(result.reason, "node `gemm`: the engine wrote 1 bytes beyond the end of `t`");
}

TEST(GraphRun, ARejectedNodeIsNamed) {
    Behaviour behaviour;
    behaviour.compile_failure = rejected(core::HResult::invalid_argument, "not today");
    FakeEngine engine(behaviour);
    const CaseResult result = run_case(gemm_relu_case(), engine);
    EXPECT_EQ(result.status, Status::fail);
    ASSERT_TRUE(result.rejection);
    EXPECT_EQ(result.rejection->message, "node `gemm`: not today");
}

TEST(GraphRun, AnUnsupportedNodeSkipsTheCase) {
    Behaviour behaviour;
    behaviour.unsupported = "no such shader";
    FakeEngine engine(behaviour);
    const CaseResult result = run_case(gemm_relu_case(), engine);
    EXPECT_EQ(result.status, Status::skip);
    EXPECT_EQ(result.reason, "node `gemm`: no such shader");
}

TEST(GraphRun, NodeByNodeTheValuesOfANodeAreFreedAfterTheirLastReader) {
    const auto face = gemm_relu();
    GraphValues values(*face->graph);
    const core::Tensor a = tensor_of<float>(real({1, 1, 2, 2}), {1, 2, 3, 4});
    const core::Tensor* inputs[] = {&a, &a};
    values.start(inputs);
    const auto t = *face->graph->find_value("t");
    values.put(t, tensor_of<float>(real({1, 1, 2, 2}), {1, 2, 3, 4}));
    values.release_after(0);
    const NodeInputs relu = values.inputs_of(face->graph->nodes[1]);
    EXPECT_EQ(values_of<float>(*relu.tensors[0]), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(relu.tensors[0]->desc.sizes, core::Dimensions{4});
    values.release_after(1);
    EXPECT_THROW((void)values.at(t), std::out_of_range);
}

TEST(GraphRun, TheCpuMeasuresEachNode) {
    cpu::CpuEngine engine(core::highest_feature_level);
    const cases::Case subject = gemm_relu_case();
    const auto executable = engine.compile_graph(*subject.descriptor);
    ASSERT_TRUE(executable);
    const core::Tensor a = tensor_of<float>(real({1, 1, 2, 2}), {1, 2, 3, 4});
    const core::Tensor* inputs[] = {&a, &a};
    ASSERT_TRUE((*executable)->bind(inputs));
    ASSERT_TRUE((*executable)->execute());
    EXPECT_EQ((*executable)->node_times().size(), 2U);
}

}  // namespace
}  // namespace graph_run_test
}  // namespace dmlconform::tests
