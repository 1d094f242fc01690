// Tests of Microsoft's DirectML under Wine: which graphs IDMLDevice1::CompileGraph accepts, and that a graph gives the
// same bits as its nodes run separately. Equality is required because DirectML fuses nothing here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/cases/case_file.h"
#include "engine/directml/wine/command.h"
#include "engine/engine_lost.h"
#include "engine/graph_by_nodes.h"
#include "engine/operators/rules.h"
#include "engine/worker/worker_engine.h"
#include "tests/d3d12/indexed_graph.h"
#include "tests/d3d12/random_tensors.h"
#include "tests/graph_builder.h"

namespace dmlconform::tests::directml_graphs_test {
namespace {

using core::DataType;
using operators::Descriptor;
using operators::Graph;
using operators::no_value;
using operators::ValueIndex;
using testing::Test;
using Tensors = std::vector<core::Tensor>;

/// Shared by all tests of the process because starting an engine takes seconds. Null if DirectML is not set up.
std::unique_ptr<worker::WorkerEngine>& engine() {
    static auto shared = []() -> std::unique_ptr<worker::WorkerEngine> {
        auto command = directml::wine::worker_command({});
        if (!command) {
            return nullptr;
        }
        auto started = worker::WorkerEngine::start(std::move(*command), {directml::wine::case_limit});
        EXPECT_TRUE(started.has_value()) << started.error().message;
        return started ? std::move(*started) : nullptr;
    }();
    return shared;
}

class DirectMlGraphs : public Test {
protected:
    void SetUp() override {
        if (engine() == nullptr) {
            GTEST_SKIP() << "DirectML is not set up here: scripts/setup-directml does that";
        }
    }
};

std::shared_ptr<const Descriptor> face(Graph graph) {
    return operators::graph_descriptor(std::make_shared<const Graph>(std::move(graph)));
}

std::vector<const core::Tensor*> pointers(const Tensors& tensors) {
    std::vector<const core::Tensor*> result;
    for (const core::Tensor& tensor : tensors) {
        result.push_back(&tensor);
    }
    return result;
}

/// Small numbers for real types, arbitrary bits for integers.
Tensors random_inputs(const Descriptor& graph, std::uint64_t seed) {
    Random random(seed);
    Tensors inputs;
    for (const operators::TensorSlot& slot : graph.inputs()) {
        const auto type = slot.desc->data_type;
        const bool is_real = type == DataType::float32 || type == DataType::float16;
        inputs.push_back(is_real ? drawn(*slot.desc, [&] { return random.between_reals(-4, 4); })
                                 : random_bits(random, *slot.desc));
    }
    return inputs;
}

/// The bits of each output, or an error.
struct Outcome {
    std::vector<std::vector<std::uint64_t>> outputs;
    std::string problem;

    bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
    return stream << (outcome.problem.empty() ? "outputs that differ" : outcome.problem);
}

Outcome run(Executable& executable, const Descriptor& graph, const Tensors& inputs) {
    const auto failed = [](const core::Result<void>& result) { return Outcome{{}, result.error().message}; };
    if (const auto bound = executable.bind(pointers(inputs)); !bound) {
        return failed(bound);
    }
    if (const auto executed = executable.execute(); !executed) {
        return failed(executed);
    }
    Tensors outputs;
    std::vector<core::Tensor*> targets;
    outputs.reserve(graph.outputs().size());
    for (const operators::TensorSlot& slot : graph.outputs()) {
        targets.push_back(&outputs.emplace_back(core::output_tensor(*slot.desc)));
    }
    if (const auto read = executable.read(targets); !read) {
        return failed(read);
    }
    Outcome outcome;
    for (const core::Tensor& output : outputs) {
        if (core::find_stray_write(output)) {
            return {{}, "something was written beyond the end of an output"};
        }
        outcome.outputs.push_back(elements_of(output));
    }
    return outcome;
}

/// Compiles the graph as a whole.
std::unique_ptr<Executable> whole(const Descriptor& graph) {
    auto compiled = engine()->compile_graph(graph);
    EXPECT_TRUE(compiled.has_value()) << compiled.error().rejection.message;
    return compiled ? std::move(*compiled) : nullptr;
}

/// Runs the graph's nodes separately.
Outcome by_nodes(const Descriptor& graph, const Tensors& inputs) {
    const auto compiled = compile_by_nodes(*engine(), graph);
    return compiled ? run(**compiled, graph, inputs) : Outcome{{}, compiled.error().rejection.message};
}

/// Compares three executions: the second with other inputs, the third with the first ones again.
void expect_like_nodes(const Descriptor& graph) {
    const auto executable = whole(graph);
    ASSERT_NE(executable, nullptr);
    for (const std::uint64_t seed : {1u, 2u, 1u}) {
        const Tensors inputs = random_inputs(graph, seed);
        const Outcome expected = by_nodes(graph, inputs);
        EXPECT_EQ(expected.problem, "");
        EXPECT_EQ(run(*executable, graph, inputs), expected) << "seed " << seed;
    }
}

Descriptor of(std::string_view op, const core::TensorDesc& from, const core::TensorDesc& to) {
    return describe(op, {{"InputTensor", from}, {"OutputTensor", to}});
}

Descriptor binary(std::string_view op, const core::TensorDesc& desc) {
    return describe(op, {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}});
}

core::TensorDesc owned(core::TensorDesc desc) {
    desc.flags = core::TensorFlags::owned_by_dml;
    return desc;
}

core::TensorDesc with_total(core::TensorDesc desc, std::uint64_t bytes) {
    desc.total_bytes = bytes;
    return desc;
}

/// An operator of any type that DirectML does not optimise away.
Descriptor computing(const core::TensorDesc& from, const core::TensorDesc& to) {
    const bool is_real = from.data_type == DataType::float32 || from.data_type == DataType::float16;
    return of(is_real ? "ACTIVATION_TANH" : "ELEMENT_WISE_BIT_NOT", from, to);
}

Descriptor copying(const core::TensorDesc& from, const core::TensorDesc& to) {
    return of("ELEMENT_WISE_IDENTITY", from, to);
}

/// A graph of x, a node that writes a value with one tensor description, and a node that reads it with another.
Graph edge(const core::TensorDesc& written, const core::TensorDesc& read,
           Descriptor (*producer)(const core::TensorDesc&, const core::TensorDesc&) = computing) {
    const auto packed = [](const core::TensorDesc& desc) { return tensor(desc.data_type, desc.sizes); };
    return plain_graph({{"producer", producer(packed(written), written), {"x"}, {"t"}},
                        {"reader", computing(read, packed(read)), {"t"}, {"y"}}},
                       {"y"});
}

enum class Answer : std::uint8_t {
    same_bits,  // accepted, with the same results as the separate nodes
    accepted,   // accepted by DirectML, but illegal by our rules
    refused,    // E_INVALIDARG
};

struct Row {
    const char* what;
    Answer answer;
    Graph graph;
};

void expect_answers(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        const auto graph = face(row.graph);
        // Our own verdict.
        EXPECT_EQ(operators::validate(*graph, core::highest_feature_level).has_value(),
                  row.answer != Answer::same_bits);
        if (row.answer == Answer::same_bits) {
            expect_like_nodes(*graph);
            continue;
        }
        const auto compiled = engine()->compile_graph(*graph);
        EXPECT_EQ(compiled.has_value(), row.answer == Answer::accepted);
        if (!compiled) {
            EXPECT_EQ(compiled.error().kind, CompileFailure::Kind::rejected) << compiled.error().rejection.message;
            EXPECT_EQ(compiled.error().rejection.code, core::HResult::invalid_argument);
        }
    }
}

TEST_F(DirectMlGraphs, BothEndsOfAnEdge) {
    const auto flat = tensor(DataType::float32, {24});
    const auto packed = tensor(DataType::float32, {4, 6});
    const auto transposed = tensor(DataType::float32, {4, 6}, {1, 4});
    const auto every_second = tensor(DataType::float32, {12}, {2});
    const auto half = tensor(DataType::float32, {12});
    auto aligned = packed;
    aligned.base_offset_alignment = 256;
    expect_answers({
        {"the same", Answer::same_bits, edge(packed, packed)},
        {"strides spelled out", Answer::same_bits, edge(packed, tensor(DataType::float32, {4, 6}, {6, 1}))},
        {"other sizes", Answer::same_bits, edge(packed, tensor(DataType::float32, {2, 3, 1, 4}))},
        {"1 dimension to 6", Answer::same_bits, edge(flat, tensor(DataType::float32, {1, 2, 2, 1, 2, 3}))},
        {"transposed by the reader", Answer::same_bits, edge(packed, transposed)},
        {"transposed by the producer", Answer::same_bits, edge(transposed, packed)},
        {"every second element", Answer::same_bits, edge(flat, with_total(every_second, 96))},
        {"broadcast", Answer::same_bits,
         edge(tensor(DataType::float32, {6}), tensor(DataType::float32, {4, 6}, {0, 1}))},
        {"FLOAT32 as INT32", Answer::same_bits, edge(flat, tensor(DataType::int32, {24}))},
        {"FLOAT32 as FLOAT16", Answer::same_bits, edge(flat, tensor(DataType::float16, {48}))},
        {"FLOAT16 as FLOAT32", Answer::same_bits, edge(tensor(DataType::float16, {48}), flat)},
        {"INT32 as UINT8", Answer::same_bits, edge(tensor(DataType::int32, {24}), tensor(DataType::uint8, {96}))},
        {"another alignment", Answer::same_bits, edge(packed, aligned)},
        {"a smaller total size", Answer::refused, edge(flat, half)},
        {"a larger total size", Answer::refused, edge(flat, with_total(flat, 100))},
        {"fewer bytes of the same total size", Answer::refused, edge(flat, with_total(half, 96))},
        {"fewer bytes of a transposed tensor", Answer::refused, edge(transposed, with_total(half, 96))},
        {"fewer bytes with strides", Answer::same_bits,
         edge(flat, with_total(tensor(DataType::float32, {6}, {2}), 96))},
        {"more bytes of the same total size", Answer::accepted, edge(with_total(half, 96), flat)},
        {"gaps that nobody writes", Answer::accepted, edge(with_total(every_second, 96), flat)},
        // DirectML removes an identity between packed tensors, and compares with the tensor that the identity reads.
        {"fewer bytes after an identity", Answer::accepted, edge(flat, with_total(half, 96), copying)},
        {"more bytes after an identity", Answer::refused, edge(with_total(half, 96), flat, copying)},
        {"OWNED_BY_DML within the graph", Answer::refused, edge(packed, owned(packed))},
    });
}

TEST_F(DirectMlGraphs, Structures) {
    const auto desc = tensor(DataType::float32, {2, 40});
    const auto relu = of("ACTIVATION_RELU", desc, desc);
    const auto tanh = of("ACTIVATION_TANH", desc, desc);
    const auto subtract = binary("ELEMENT_WISE_SUBTRACT", desc);
    const auto add_owned =
        describe("ELEMENT_WISE_SUBTRACT", {{"ATensor", desc}, {"BTensor", owned(desc)}, {"OutputTensor", desc}});
    const auto top = describe("TOP_K1", {{"InputTensor", desc},
                                         {"OutputValueTensor", tensor(DataType::float32, {2, 5})},
                                         {"OutputIndexTensor", tensor(DataType::uint32, {2, 5})},
                                         {"Axis", 1},
                                         {"K", 5},
                                         {"AxisDirection", 1}});
    const auto half = tensor(DataType::float32, {40});
    const auto row = tensor(DataType::float32, {1, 40});
    Graph empty = plain_graph({}, {});
    Graph no_output = plain_graph({{"a", relu, {"x"}, {"y"}}}, {});
    Graph unread = plain_graph({{"a", relu, {"x"}, {"y"}}}, {"y"});
    unread.values.push_back({"z", desc, std::nullopt, false});
    unread.inputs.push_back(unread.values.size() - 1);
    Graph absent = plain_graph(
        {{"a", describe("ACTIVATION_RELU", {{"InputTensor", nullptr}, {"OutputTensor", desc}}), {""}, {"y"}}}, {"y"});
    Graph missing = plain_graph({{"a", subtract, {"x", "x"}, {"y"}}}, {"y"});
    missing.nodes[0].inputs[1] = no_value;
    expect_answers({
        {"a diamond whose middle is an output", Answer::same_bits,
         plain_graph({{"a", tanh, {"x"}, {"t"}}, {"b", relu, {"t"}, {"u"}}, {"c", subtract, {"u", "t"}, {"y"}}},
                     {"y", "t"})},
        {"a value with itself", Answer::same_bits,
         plain_graph({{"a", tanh, {"x"}, {"t"}}, {"b", subtract, {"t", "t"}, {"y"}}}, {"y"})},
        {"nodes in any order", Answer::same_bits,
         plain_graph({{"b", relu, {"t"}, {"y"}}, {"a", tanh, {"x"}, {"t"}}}, {"y"})},
        {"an output that nobody reads", Answer::same_bits,
         plain_graph({{"a", top, {"x"}, {"values", "indices"}}}, {"indices"})},
        {"an input of several readers", Answer::same_bits,
         plain_graph({{"a", tanh, {"x"}, {"t"}}, {"b", relu, {"x"}, {"u"}}, {"c", subtract, {"t", "u"}, {"y"}}},
                     {"y"})},
        {"an input with a smaller total size for the second reader", Answer::same_bits,
         plain_graph({{"a", tanh, {"x"}, {"t"}}, {"b", of("ACTIVATION_RELU", row, row), {"x"}, {"u"}}}, {"t", "u"})},
        {"an input with a larger total size for the second reader", Answer::refused,
         plain_graph({{"a", of("ACTIVATION_RELU", half, half), {"x"}, {"t"}}, {"b", tanh, {"x"}, {"u"}}}, {"t", "u"})},
        {"an input that three readers own", Answer::same_bits,
         plain_graph({{"a", add_owned, {"v", "x"}, {"t"}},
                      {"b", add_owned, {"t", "x"}, {"u"}},
                      {"c", add_owned, {"u", "x"}, {"y"}}},
                     {"y", "t"})},
        {"an input that one of two readers owns", Answer::refused,
         plain_graph({{"a", add_owned, {"v", "x"}, {"t"}}, {"b", relu, {"x"}, {"u"}}}, {"t", "u"})},
        {"no node", Answer::refused, empty},
        {"no output", Answer::refused, no_output},
        {"a cycle", Answer::refused,
         plain_graph({{"a", relu, {"u"}, {"t"}}, {"b", subtract, {"t", "x"}, {"u"}}}, {"u"})},
        {"a node that nobody needs", Answer::refused,
         plain_graph({{"a", relu, {"x"}, {"y"}}, {"b", tanh, {"x"}, {"z"}}}, {"y"})},
        {"a required tensor that is absent", Answer::refused, absent},
        {"a tensor that is connected to nothing", Answer::refused, missing},
    });
    // An unused input must be bound as nothing; binding a buffer removes the device. Our rules reject such a graph.
    const auto graph = face(unread);
    const auto executable = whole(*graph);
    ASSERT_NE(executable, nullptr);
    const Tensors inputs = random_inputs(*graph, 1);
    const Outcome outcome = run(*executable, *graph, inputs);
    EXPECT_EQ(outcome.problem, "");
}

/// Constants are read when the graph is initialised, and again with each bind.
TEST_F(DirectMlGraphs, Constants) {
    const auto image = tensor(DataType::float32, {1, 3, 8, 8});
    const auto filter = tensor(DataType::float32, {3, 3, 3, 3});
    const auto convolution =
        with(plain_convolution(image, filter, image), {{"StartPadding", {1, 1}}, {"EndPadding", {1, 1}}});
    const auto relu = of("ACTIVATION_RELU", image, image);
    // One constant for two nodes.
    Graph graph = plain_graph({{"a", convolution, {"x", "w", ""}, {"t"}},
                               {"b", relu, {"t"}, {"u"}},
                               {"c", convolution, {"u", "w", ""}, {"y"}}},
                              {"y", "u"});
    graph.values[*graph.find_value("w")].is_constant = true;
    expect_like_nodes(*face(graph));
    // All inputs are constants.
    for (operators::GraphValue& value : graph.values) {
        value.is_constant = !value.producer;
    }
    expect_like_nodes(*face(graph));
    // A small constant with an arbitrary layout.
    const auto scale = tensor(DataType::float32, {1, 3, 8, 8}, {0, 1, 0, 0});
    Graph scaled = plain_graph(
        {{"a",
          describe("ELEMENT_WISE_MULTIPLY", {{"ATensor", image}, {"BTensor", scale}, {"OutputTensor", image}}),
          {"x", "s"},
          {"t"}},
         {"b", relu, {"t"}, {"y"}}},
        {"y"});
    scaled.values[*scaled.find_value("s")].is_constant = true;
    expect_like_nodes(*face(scaled));
}

TEST_F(DirectMlGraphs, LongChains) {
    const auto desc = tensor(DataType::float32, {3, 50});
    std::vector<TestNode> nodes;
    for (int i = 0; i < 100; ++i) {
        nodes.push_back({fmt::format("n{}", i),
                         binary("ELEMENT_WISE_SUBTRACT", desc),
                         {"x", fmt::format("v{}", i)},
                         {fmt::format("v{}", i + 1)}});
    }
    expect_like_nodes(*graph_of(nodes, {"v100"}));
}

/// Tests each operator between two others: its inputs come from nodes, and its outputs go to nodes.
class OperatorsBetweenOthers : public DirectMlGraphs {
protected:
    /// Cases with inputs, one or two for each operator.
    static std::vector<cases::Case> examples() {
        const std::string folder = DMLCONFORM_CASES;
        cases::Suite suite = cases::load_suite({&folder, 1});
        EXPECT_TRUE(suite.problems.empty());
        std::vector<cases::Case> chosen;
        std::map<std::string_view, int> counts;
        for (cases::Case& subject : suite.cases) {
            const bool is_example = subject.id.starts_with("examples/");
            if (is_example && !subject.expect_error && subject.descriptor->graph == nullptr &&
                is_small(*subject.descriptor) && counts[subject.descriptor->schema->short_name()]++ < 2) {
                chosen.push_back(std::move(subject));
            }
        }
        return chosen;
    }

    static bool is_small(const Descriptor& descriptor) {
        for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
            for (const operators::TensorSlot& slot : slots) {
                if (slot.desc != nullptr && slot.desc->total_bytes > 1u << 20) {
                    return false;
                }
            }
        }
        return true;
    }

    /// Surrounds an operator with others. Tensors owned by DirectML remain inputs of the graph, and so do tensors whose
    /// type no surrounding operator supports.
    static Graph surrounded(const Descriptor& descriptor) {
        IndexedGraph graph;
        std::vector<ValueIndex> read;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            if (slot.desc == nullptr) {
                read.push_back(no_value);
                continue;
            }
            const ValueIndex input = graph.input(fmt::format("x{}", read.size()), *slot.desc);
            const bool is_owned = slot.desc->flags == core::TensorFlags::owned_by_dml;
            read.push_back(is_owned ? input : with_itself(graph, input));
        }
        Descriptor apart = descriptor;
        apart.in_place.clear();
        for (const ValueIndex value : graph.node(std::move(apart), read)) {
            if (value != no_value) {
                graph.output(with_itself(graph, value));
            }
        }
        return graph.graph();
    }

    /// The maximum of a value and itself, which is the value. DirectML would remove an identity.
    static ValueIndex with_itself(IndexedGraph& graph, ValueIndex value) {
        Descriptor maximum = binary("ELEMENT_WISE_MAX", graph.graph().values[value].desc);
        const bool is_legal = !operators::validate(maximum, core::highest_feature_level);
        return is_legal ? graph.node(std::move(maximum), {value, value}).front() : value;
    }
};

TEST_F(OperatorsBetweenOthers, ComputeTheSame) {
    std::set<std::string> operators_seen;
    for (const cases::Case& subject : examples()) {
        SCOPED_TRACE(subject.id);
        const auto graph = face(surrounded(*subject.descriptor));
        Tensors inputs;
        for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
            if (subject.inputs[i]) {
                core::Tensor& tensor = inputs.emplace_back(*subject.descriptor->inputs()[i].desc);
                ASSERT_TRUE(subject.inputs[i]->fill(tensor).has_value());
            }
        }
        try {
            const Outcome expected = by_nodes(*graph, inputs);
            if (!expected.problem.empty()) {
                continue;  // a known difference of the operator, or a feature that DirectML does not have
            }
            const auto executable = engine()->compile_graph(*graph);
            if (!executable) {
                ADD_FAILURE() << executable.error().rejection.message;
                continue;
            }
            EXPECT_EQ(run(**executable, *graph, inputs), expected);
            operators_seen.insert(std::string(subject.descriptor->schema->short_name()));
        } catch (const EngineLost& lost) {
            ADD_FAILURE() << lost.what();
        }
    }
    // There were 92 when this was written.
    EXPECT_GE(operators_seen.size(), 90u);
}

}  // namespace
}  // namespace dmlconform::tests::directml_graphs_test
