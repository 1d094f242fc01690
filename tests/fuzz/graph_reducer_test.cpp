// Plants faults into graphs and tests that reduction leaves only the responsible nodes.
#include "engine/fuzz/graph_reducer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "engine/graph_values.h"
#include "engine/run/case_run.h"
#include "tests/graph_builder.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests {
namespace graph_reducer_test {
namespace {

using operators::Graph;
using operators::ValueIndex;

constexpr std::size_t length = 8;

cases::Initialiser data(std::size_t seed) {
    std::vector<float> values;
    for (std::size_t i = 0; i < length; ++i) {
        values.push_back(static_cast<float>((seed * 7 + i * 5) % 11) - 5);
    }
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return cases::given_elements(std::move(bytes));
}

TestNode binary(std::string name, std::string_view op, std::string a, std::string b, std::string to) {
    return {std::move(name),
            describe(op, {{"ATensor", real({length})}, {"BTensor", real({length})}, {"OutputTensor", real({length})}}),
            {std::move(a), std::move(b)},
            {std::move(to)}};
}

/// Twelve nodes in two branches that join.
cases::Case subject() {
    cases::Case result;
    result.id = "file/graph";
    const auto one = real({length});
    result.descriptor = graph_of(
        {unary("relu1", "ACTIVATION_RELU", one, "x", "a1"), binary("sub1", "ELEMENT_WISE_SUBTRACT", "a1", "w", "a2"),
         unary("abs1", "ELEMENT_WISE_ABS", one, "a2", "a3"), binary("add1", "ELEMENT_WISE_ADD", "a3", "x", "a4"),
         unary("neg1", "ELEMENT_WISE_NEGATE", one, "x", "b1"), binary("sub2", "ELEMENT_WISE_SUBTRACT", "b1", "w", "b2"),
         unary("relu2", "ACTIVATION_RELU", one, "b2", "b3"), binary("max1", "ELEMENT_WISE_MAX", "b3", "w", "b4"),
         binary("sub3", "ELEMENT_WISE_SUBTRACT", "a4", "b4", "c1"), unary("abs2", "ELEMENT_WISE_ABS", one, "c1", "c2"),
         binary("add2", "ELEMENT_WISE_ADD", "c2", "w", "c3"), unary("neg2", "ELEMENT_WISE_NEGATE", one, "c3", "y")},
        {"y"});
    for (std::size_t i = 0; i < result.descriptor->inputs().size(); ++i) {
        result.inputs.emplace_back(data(i + 1));
    }
    result.expected.resize(1);
    result.tolerances.resize(1);
    return result;
}

/// Runs graphs with the reference after a fault has changed them.
class FaultyEngine final : public Engine {
public:
    /// Changes the graph; returns whether there was anything to change.
    using Fault = std::function<bool(Graph& graph)>;

    explicit FaultyEngine(Fault fault, std::string wrong_operator = {})
        : fault_(std::move(fault)),
          wrong_operator_(std::move(wrong_operator)),
          reference_(core::highest_feature_level) {
        info_ = reference_.info();
        info_.name = "faulty";
        info_.is_reference = false;
    }

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor&) const override {
        return std::nullopt;
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        auto compiled = reference_.compile(descriptor);
        const bool is_wrong = descriptor.schema->short_name() == wrong_operator_;
        return compiled && is_wrong ? std::make_unique<Wrong>(std::move(*compiled)) : std::move(compiled);
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph) override {
        Graph changed = *graph.graph;
        if (!fault_ || !fault_(changed)) {
            return Engine::compile_graph(graph);
        }
        return std::make_unique<Changed>(std::move(changed));
    }

private:
    /// Changes the last element of an output.
    class Wrong final : public Executable {
    public:
        explicit Wrong(std::unique_ptr<Executable> right) : right_(std::move(right)) {}
        core::Result<void> bind(std::span<const core::Tensor* const> inputs) override { return right_->bind(inputs); }
        core::Result<void> execute() override { return right_->execute(); }
        core::Result<void> read(std::span<core::Tensor* const> outputs) override {
            auto done = right_->read(outputs);
            outputs[0]->as<float>().back() = 3 * outputs[0]->as<float>().back() + 17;
            return done;
        }

    private:
        std::unique_ptr<Executable> right_;
    };

    /// Runs the changed graph, which may have unused nodes and inputs.
    class Changed final : public Executable {
    public:
        explicit Changed(Graph graph) : graph_(std::move(graph)), values_(graph_) {}
        core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
            inputs_.assign(inputs.begin(), inputs.end());
            return {};
        }
        core::Result<void> execute() override {
            values_.start(inputs_);
            for (const std::size_t n : values_.order()) {
                const operators::GraphNode& node = graph_.nodes[n];
                auto outputs = cpu::compute_outputs(*node.descriptor, values_.inputs_of(node).tensors);
                values_.put(node.outputs[0], std::move(outputs[0]));
            }
            return {};
        }
        core::Result<void> read(std::span<core::Tensor* const> outputs) override {
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                std::ranges::copy(values_.at(graph_.outputs[i]).buffer.bytes(), outputs[i]->buffer.bytes().begin());
            }
            return {};
        }

    private:
        Graph graph_;
        GraphValues values_;
        std::vector<const core::Tensor*> inputs_;
    };

    Fault fault_;
    std::string wrong_operator_;
    cpu::CpuEngine reference_;
    EngineInfo info_;
};

std::optional<std::size_t> node_called(const Graph& graph, std::string_view name) {
    const auto found = std::ranges::find(graph.nodes, name, &operators::GraphNode::name);
    return found == graph.nodes.end() ? std::nullopt
                                      : std::optional(static_cast<std::size_t>(found - graph.nodes.begin()));
}

/// Whether the second node reads an output of the first.
bool is_edge(const Graph& graph, std::string_view from, std::string_view to) {
    const auto a = node_called(graph, from);
    const auto b = node_called(graph, to);
    return a && b &&
           std::ranges::find(graph.nodes[*b].inputs, graph.nodes[*a].outputs[0]) != graph.nodes[*b].inputs.end();
}

/// Drops the second node of a pair, as a faulty fusion might.
FaultyEngine::Fault drops(std::string from, std::string to) {
    return [=](Graph& graph) {
        if (!is_edge(graph, from, to)) {
            return false;
        }
        // Replaces the node by an identity with the same tensors, which passes on its input.
        operators::GraphNode& node = graph.nodes[*node_called(graph, to)];
        node.descriptor = std::make_shared<const operators::Descriptor>(
            describe("ELEMENT_WISE_IDENTITY", {{"InputTensor", real({length})}, {"OutputTensor", real({length})}}));
        const ValueIndex value = graph.nodes[*node_called(graph, from)].outputs[0];
        node.inputs = {value};
        return true;
    };
}

/// Swaps the inputs of the second node if it follows the first, as a faulty fusion might.
FaultyEngine::Fault swaps(std::string from, std::string to) {
    return [=](Graph& graph) {
        if (!is_edge(graph, from, to)) {
            return false;
        }
        operators::GraphNode& node = graph.nodes[*node_called(graph, to)];
        std::swap(node.inputs[0], node.inputs[1]);
        return true;
    };
}

/// Simulates that the memory of the first node's output is reused too early: the second node reads the first one's
/// input.
FaultyEngine::Fault reuses(std::string from, std::string to) {
    return [=](Graph& graph) {
        if (!is_edge(graph, from, to)) {
            return false;
        }
        operators::GraphNode& node = graph.nodes[*node_called(graph, to)];
        const operators::GraphNode& before = graph.nodes[*node_called(graph, from)];
        std::ranges::replace(node.inputs, before.outputs[0], before.inputs[0]);
        return true;
    };
}

/// Simulates a missing barrier: the second node reads memory that the first one has not written yet.
FaultyEngine::Fault misses_barrier(std::string from, std::string to) {
    return [=](Graph& graph) {
        if (!is_edge(graph, from, to)) {
            return false;
        }
        operators::GraphNode& before = graph.nodes[*node_called(graph, from)];
        before.descriptor = std::make_shared<const operators::Descriptor>(
            describe("FILL_VALUE_CONSTANT", {{"OutputTensor", real({length})},
                                             {"ValueDataType", static_cast<std::uint32_t>(core::DataType::float32)},
                                             {"Value", operators::FieldValue(operators::ScalarUnion{})}}));
        before.inputs.clear();
        return true;
    };
}

/// A constant is bound to the wrong input: the second node has the first one's output twice.
FaultyEngine::Fault moves_constant(std::string from, std::string to) {
    return [=](Graph& graph) {
        if (!is_edge(graph, from, to)) {
            return false;
        }
        operators::GraphNode& node = graph.nodes[*node_called(graph, to)];
        std::ranges::fill(node.inputs, graph.nodes[*node_called(graph, from)].outputs[0]);
        return true;
    };
}

std::vector<std::string> blamed(const cases::Case& reduced) {
    std::vector<std::string> names;
    if (reduced.descriptor->graph == nullptr) {
        return {std::string(reduced.descriptor->schema->short_name())};
    }
    for (const operators::GraphNode& node : reduced.descriptor->graph->nodes) {
        names.push_back(node.name);
    }
    return names;
}

struct Planted {
    std::string what;
    FaultyEngine::Fault fault;
    std::vector<std::string> to_blame;
};

std::vector<Planted> planted() {
    std::vector<Planted> all;
    const std::vector<std::pair<std::string, std::string>> edges{
        {"relu1", "sub1"}, {"sub1", "abs1"}, {"abs1", "add1"}, {"add1", "sub3"}, {"neg1", "sub2"}, {"sub2", "relu2"},
        {"relu2", "max1"}, {"max1", "sub3"}, {"sub3", "abs2"}, {"abs2", "add2"}, {"add2", "neg2"}};
    for (const auto& [from, to] : edges) {
        all.push_back({fmt::format("{} after {} is dropped", to, from), drops(from, to), {from, to}});
        all.push_back({fmt::format("{} after {} reads too early", to, from), reuses(from, to), {from, to}});
        all.push_back({fmt::format("{} after {} lacks a barrier", to, from), misses_barrier(from, to), {from, to}});
        if (to.starts_with("sub") || to == "max1" || to == "add2") {
            all.push_back({fmt::format("{} after {} reads its constant wrongly", to, from),
                           moves_constant(from, to),
                           {from, to}});
        }
        if (to.starts_with("sub")) {
            all.push_back({fmt::format("{} after {} has its inputs exchanged", to, from), swaps(from, to), {from, to}});
        }
    }
    return all;
}

TEST(GraphReducer, EndsWithTheNodesToBlame) {
    const cases::Case whole = subject();
    std::size_t visible = 0;
    for (const Planted& bug : planted()) {
        FaultyEngine engine(bug.fault);
        const auto reduced = fuzz::reduce(whole, engine, nullptr);
        if (!reduced) {
            continue;  // the fault does not affect the outputs
        }
        ++visible;
        EXPECT_THAT(blamed(reduced->subject), testing::UnorderedElementsAreArray(bug.to_blame)) << bug.what;
        EXPECT_TRUE(run::is_failure(reduced->result.status));
    }
    EXPECT_GE(visible, 30U);
}

TEST(GraphReducer, EndsWithTheOperatorThatIsWrongByItself) {
    for (const char* op : {"ELEMENT_WISE_SUBTRACT", "ELEMENT_WISE_ABS", "ELEMENT_WISE_NEGATE", "ELEMENT_WISE_MAX",
                           "ELEMENT_WISE_ADD", "ACTIVATION_RELU"}) {
        FaultyEngine engine({}, op);
        const auto reduced = fuzz::reduce(subject(), engine, nullptr);
        ASSERT_TRUE(reduced) << op << ": " << (reduced ? "" : reduced.error().message);
        EXPECT_EQ(blamed(reduced->subject), std::vector<std::string>{op});
    }
}

TEST(GraphReducer, KeepsTheReferencesValues) {
    FaultyEngine engine(drops("sub3", "abs2"));
    const auto reduced = fuzz::reduce(subject(), engine, nullptr);
    ASSERT_TRUE(reduced);
    EXPECT_EQ(reduced->subject.id, "reduced/graph");
    cpu::CpuEngine reference(core::highest_feature_level);
    EXPECT_FALSE(run::is_failure(run::run_case(reduced->subject, reference).status));
    for (std::size_t i = 0; i < reduced->subject.inputs.size(); ++i) {
        core::Tensor input(*reduced->subject.descriptor->inputs()[i].desc);
        EXPECT_TRUE(reduced->subject.inputs[i]->fill(input));
    }
}

/// What the model's data set expects only applies to the whole graph.
TEST(GraphReducer, ExpectsNothingOfParts) {
    cases::Case whole = subject();
    whole.expected.assign(1, data(1));
    whole.expected_in_fp32 = true;
    FaultyEngine engine(drops("sub3", "abs2"));
    const auto reduced = fuzz::reduce(whole, engine, nullptr);
    ASSERT_TRUE(reduced);
    EXPECT_TRUE(std::ranges::none_of(reduced->subject.expected, &std::optional<cases::Initialiser>::has_value));
    EXPECT_FALSE(reduced->subject.expected_in_fp32) << "a case file that says so is not read";
}

TEST(GraphReducer, SaysWhenTheGraphIsRight) {
    FaultyEngine engine({});
    const auto reduced = fuzz::reduce(subject(), engine, nullptr);
    ASSERT_FALSE(reduced);
    EXPECT_EQ(reduced.error().message, "file/graph does not fail on faulty");
}

}  // namespace
}  // namespace graph_reducer_test
}  // namespace dmlconform::tests
