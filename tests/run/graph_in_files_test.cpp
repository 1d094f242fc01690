// Tests of graphs whose inputs and values lie in temporary files, because they do not fit into the memory that is
// allowed.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/cpu/graph_reference.h"
#include "engine/run/case_memory.h"
#include "engine/run/case_run.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"
#include "tests/run/fake_engine.h"

namespace dmlconform::tests::graph_in_files_test {
namespace {

constexpr std::uint32_t size = 256;

TestNode product(const char* name, const char* from, const char* weights, const char* to) {
    return {name,
            describe("GEMM", {{"ATensor", real({1, 1, size, size})},
                              {"BTensor", real({1, 1, size, size})},
                              {"OutputTensor", real({1, 1, size, size})},
                              {"TransA", 0},
                              {"TransB", 0},
                              {"Alpha", 1},
                              {"Beta", 0}}),
            {from, weights, ""},
            {to}};
}

/// Three products, a function, and a node that decides. Each tensor has 256 KiB, which is enough for a file.
std::shared_ptr<const operators::Descriptor> graph() {
    const auto layout = real({1, 1, size, size});
    return graph_of({product("first", "x", "w", "a"), unary("tanh", "ACTIVATION_TANH", layout, "a", "b"),
                     product("second", "b", "v", "s"), product("third", "s", "u", "c"),
                     unary("floor", "ELEMENT_WISE_FLOOR", layout, "c", "d"),
                     unary("negate", "ELEMENT_WISE_NEGATE", layout, "c", "y")},
                    {"d", "y"});
}

/// Two convolutions, of which the second one computes its runs at once, and a reshape between them.
std::shared_ptr<const operators::Descriptor> convolutions() {
    const auto convolution = [](const core::TensorDesc& image) {
        return plain_convolution(image, real({16, 16, 1, 1}), image);
    };
    return graph_of({{"first", convolution(real({1, 16, 64, 64})), {"x", "w", ""}, {"a"}},
                     unary("tanh", "ACTIVATION_TANH", real({1, 16, 64, 64}), "a", "b"),
                     {"second", convolution(real({1, 16, 32, 128})), {"b", "v", ""}, {"y"}}},
                    {"y"});
}

std::vector<std::byte> numbers(std::uint32_t seed, std::size_t count = std::size_t{size} * size) {
    std::vector<float> values(count);
    for (float& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = (static_cast<float>(seed >> 8) / 8388608.0F - 1) / 16;
    }
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::vector<core::Tensor> inputs_of(const operators::Descriptor& descriptor, bool in_files) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        inputs.push_back(in_files ? core::tensor_in_file(*slot.desc) : core::Tensor(*slot.desc));
        std::ranges::copy(numbers(static_cast<std::uint32_t>(inputs.size()), slot.desc->total_bytes / sizeof(float)),
                          inputs.back().buffer.bytes().begin());
        inputs.back().buffer.leave_memory();
    }
    return inputs;
}

cpu::Reference reference(const operators::Descriptor& descriptor, bool in_files) {
    const auto inputs = inputs_of(descriptor, in_files);
    std::vector<const core::Tensor*> pointers;
    for (const core::Tensor& input : inputs) {
        // Small tensors stay in memory, as filters do.
        EXPECT_EQ(input.buffer.is_in_file(), in_files && input.buffer.bytes().size() >= std::size_t{256} * 1024);
        pointers.push_back(&input);
    }
    return cpu::compute_graph_reference(*descriptor.graph, pointers, cpu::Accumulation::fp32);
}

void expect_the_same_in_files(const operators::Descriptor& descriptor) {
    const cpu::Reference in_memory = reference(descriptor, false);
    const cpu::Reference in_files = reference(descriptor, true);
    EXPECT_EQ(in_memory.undecided, in_files.undecided);
    ASSERT_EQ(in_memory.outputs.size(), in_files.outputs.size());
    for (std::size_t i = 0; i < in_memory.outputs.size(); ++i) {
        EXPECT_TRUE(std::ranges::equal(in_memory.outputs[i].buffer.bytes(), in_files.outputs[i].buffer.bytes()));
        EXPECT_EQ(in_memory.slack[i].below, in_files.slack[i].below);
        EXPECT_EQ(in_memory.slack[i].above, in_files.slack[i].above);
        EXPECT_EQ(in_memory.slack[i].sigma, in_files.slack[i].sigma);
    }
    EXPECT_GT(*std::ranges::max_element(in_files.slack.back().below), 0);
}

TEST(GraphInFiles, ReferenceAndToleranceAreThoseInMemory) {
    expect_the_same_in_files(*graph());
    expect_the_same_in_files(*convolutions());
}

std::shared_ptr<const cases::Case> subject() {
    auto result = std::make_shared<cases::Case>();
    result->id = "file/graph";
    result->descriptor = graph();
    const auto inputs = result->descriptor->inputs().size();
    for (std::size_t i = 0; i < inputs; ++i) {
        result->inputs.emplace_back(cases::given_elements(numbers(static_cast<std::uint32_t>(i + 1))));
    }
    result->expected.resize(2);
    result->tolerances.resize(2);
    return result;
}

/// Node by node, the engine has one node at a time; otherwise it has the whole graph.
TEST(GraphInFiles, GraphsThatDoNotFitAreJudgedAllTheSame) {
    const auto whole = subject();
    run::CaseSettings settings;
    settings.graph_mode = run::GraphMode::nodes;
    settings.max_memory = run::memory_needed(*whole) - 1;
    EXPECT_TRUE(run::is_in_files(*whole, settings));
    FakeEngine right{Behaviour{}};
    EXPECT_LE(run::memory_of(*whole, right.info(), settings), settings.max_memory);
    EXPECT_EQ(run::run_case(*whole, right, settings).status, run::Status::pass);
    Behaviour behaviour;
    behaviour.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->as<float>()[77] += 0.25F; };
    FakeEngine wrong{behaviour};
    EXPECT_EQ(run::run_case(*whole, wrong, settings).status, run::Status::fail);
}

TEST(GraphInFiles, GraphsThatDoNotEvenFitFromFilesAreSkipped) {
    const auto whole = subject();
    run::CaseSettings settings;
    settings.max_memory = run::memory_needed_in_files(*whole, {.engine = run::MoreCopies::Engine::node});
    FakeEngine engine{Behaviour{}};
    const run::CaseResult result = run::run_case(*whole, engine, settings);
    EXPECT_EQ(result.status, run::Status::skip);
    EXPECT_TRUE(result.reason.ends_with("MiB with --graph-mode nodes)")) << result.reason;
    settings.graph_mode = run::GraphMode::nodes;
    EXPECT_EQ(run::run_case(*whole, engine, settings).status, run::Status::pass);
    --settings.max_memory;
    EXPECT_EQ(run::run_case(*whole, engine, settings).status, run::Status::skip);
}

TEST(GraphInFiles, GraphsThatAreTooLargeForTheDeviceMayStillRunNodeByNode) {
    const auto whole = subject();
    Behaviour at_compilation;
    at_compilation.compile_failure = broken("no buffer of 4294967296 bytes: E_OUTOFMEMORY");
    Behaviour at_binding;
    at_binding.bind_error = "no buffer of 4294967296 bytes: E_OUTOFMEMORY";
    for (const Behaviour& behaviour : {at_compilation, at_binding}) {
        FakeEngine engine{behaviour};
        run::CaseSettings settings;
        const run::CaseResult result = run::run_case(*whole, engine, settings);
        EXPECT_EQ(result.status, run::Status::error);
        EXPECT_NE(result.reason.find("E_OUTOFMEMORY"), std::string::npos) << result.reason;
        EXPECT_TRUE(result.reason.ends_with("(with --graph-mode nodes, the engine gets one operator at a time)"))
            << result.reason;
        settings.graph_mode = run::GraphMode::nodes;
        EXPECT_EQ(run::run_case(*whole, engine, settings).reason.find("--graph-mode"), std::string::npos);
    }
}

}  // namespace
}  // namespace dmlconform::tests::graph_in_files_test
