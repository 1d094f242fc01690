// Tests of graphs in engine/worker: a worker gets a whole graph if it supports graphs, and single nodes otherwise, with
// equal results.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "engine/operators/rules.h"
#include "engine/worker/worker_engine.h"
#include "tests/graph_builder.h"
#include "tests/run/fake_engine.h"
#include "tests/temporary_folder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::graphs_test {
namespace {

using core::DataType;
using worker::WorkerEngine;

/// Every second element, then every second of those.
std::shared_ptr<const operators::Descriptor> two_slices() {
    const auto slice = [](std::uint32_t count) {
        return describe("SLICE1", {{"InputTensor", tensor(DataType::uint8, {count})},
                                   {"OutputTensor", tensor(DataType::uint8, {count / 2})},
                                   {"InputWindowOffsets", {0}},
                                   {"InputWindowSizes", {count}},
                                   {"InputWindowStrides", {2}}});
    };
    return graph_of({{"first", slice(8), {"x"}, {"t"}}, {"second", slice(4), {"t"}, {"y"}}}, {"y", "t"});
}

std::unique_ptr<WorkerEngine> started(std::vector<std::string> words) {
    auto engine = WorkerEngine::start({std::move(words), {}, ""}, {});
    if (!engine) {
        throw std::runtime_error(engine.error().message);
    }
    return std::move(*engine);
}

/// A worker whose requests are also written to a file.
std::vector<std::string> recorded(const std::string& worker, const std::string& file) {
    return {"sh", "-c", "tee '" + file + "' | " + worker};
}

std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Runs the two slices on 0, 1, …, 7 twice, and checks the outputs.
void expect_right(Engine& engine) {
    const auto graph = two_slices();
    ASSERT_FALSE(engine.unsupported_graph(*graph).has_value());
    auto executable = engine.compile_graph(*graph);
    ASSERT_TRUE(executable.has_value()) << executable.error().rejection.message;
    for (const std::uint8_t first : {std::uint8_t{0}, std::uint8_t{100}}) {
        std::vector<std::uint8_t> values(8);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<std::uint8_t>(first + i);
        }
        const core::Tensor input = tensor_of(*graph->inputs()[0].desc, values);
        const core::Tensor* const inputs[] = {&input};
        core::Tensor y = core::output_tensor(*graph->outputs()[0].desc);
        core::Tensor t = core::output_tensor(*graph->outputs()[1].desc);
        core::Tensor* const outputs[] = {&y, &t};
        for (const auto& done : {(*executable)->bind(inputs), (*executable)->execute(), (*executable)->read(outputs)}) {
            ASSERT_TRUE(done.has_value()) << done.error().message;
        }
        const auto at = [&](int i) { return static_cast<std::uint8_t>(first + i); };
        EXPECT_EQ(values_of<std::uint8_t>(y), (std::vector<std::uint8_t>{at(0), at(4)}));
        EXPECT_EQ(values_of<std::uint8_t>(t), (std::vector<std::uint8_t>{at(0), at(2), at(4), at(6)}));
        EXPECT_EQ((*executable)->node_times().size(), 2u);
    }
}

TEST(WorkerGraphs, AsAWhole) {
    const TemporaryFolder folder;
    const std::string requests = folder.at("requests");
    expect_right(*started(recorded(FAULTY_WORKER, requests)));
    EXPECT_NE(text_of(requests).find("compileGraph"), std::string::npos);
}

/// The Python worker supports one operator and no graphs.
TEST(WorkerGraphs, NodeByNodeIfTheWorkerTakesNone) {
    const TemporaryFolder folder;
    const std::string requests = folder.at("requests");
    expect_right(*started(recorded("python3 " EXAMPLE_WORKER, requests)));
    EXPECT_EQ(text_of(requests).find("compileGraph"), std::string::npos);
}

TEST(WorkerGraphs, RejectionsComeBack) {
    const auto desc = tensor(DataType::float32, {4});
    const auto cycle =
        graph_of({unary("a", "ACTIVATION_RELU", desc, "y", "x"), unary("b", "ACTIVATION_RELU", desc, "x", "y")}, {"y"});
    const auto expected = operators::validate(*cycle, core::highest_feature_level);
    ASSERT_TRUE(expected.has_value());
    const auto engine = started({FAULTY_WORKER});
    const auto compiled = engine->compile_graph(*cycle);
    ASSERT_FALSE(compiled.has_value());
    EXPECT_EQ(compiled.error().kind, CompileFailure::Kind::rejected);
    EXPECT_EQ(compiled.error().rejection.rule, expected->rule);
    EXPECT_EQ(compiled.error().rejection.message, expected->message);
    expect_right(*engine);
}

TEST(WorkerGraphs, ATimeForEachNodeOrNone) {
    const auto engine = started({FAULTY_WORKER, "execute", "node-times"});
    const auto graph = two_slices();
    auto executable = engine->compile_graph(*graph);
    ASSERT_TRUE(executable.has_value());
    const core::Tensor input = blank_tensor(*graph->inputs()[0].desc);
    const core::Tensor* const inputs[] = {&input};
    ASSERT_TRUE((*executable)->bind(inputs).has_value());
    const auto executed = (*executable)->execute();
    ASSERT_FALSE(executed.has_value());
    EXPECT_NE(executed.error().message.find("not one for each of 2 nodes"), std::string::npos);
}

}  // namespace
}  // namespace dmlconform::tests::graphs_test
