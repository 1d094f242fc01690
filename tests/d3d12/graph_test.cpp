// Tests of engine/d3d12/graph_plan and executable: a graph as one command list. Results equal those of single nodes bit
// for bit, dispatches wait for each other only where they must, and memory is reused.
#include <gmock/gmock.h>

#include <map>

#include "engine/d3d12/device/executable.h"
#include "engine/d3d12/planning/arena.h"
#include "engine/d3d12/planning/graph_plan.h"
#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/graph_hazards.h"
#include "tests/d3d12/indexed_graph.h"
#include "tests/d3d12/top_k1.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::graph_test {
namespace {

using core::DataType;
using d3d12::GraphPlan;
using operators::Descriptor;
using operators::Graph;
using operators::no_value;
using operators::ValueIndex;
using Kind = RecordedCommand::Kind;
using Tensors = std::vector<core::Tensor>;

Descriptor unary(std::string_view op, const core::TensorDesc& from, const core::TensorDesc& to) {
    return describe(op, {{"InputTensor", from}, {"OutputTensor", to}});
}

Descriptor binary(std::string_view op, const core::TensorDesc& desc) {
    return describe(op, {{"ATensor", desc}, {"BTensor", desc}, {"OutputTensor", desc}});
}

/// Slices a contiguous range from a tensor with one dimension.
Descriptor slice(const core::TensorDesc& from, std::uint32_t begin, std::uint32_t count) {
    core::TensorDesc to = core::TensorDesc::packed(from.data_type, {count});
    return describe("SLICE1", {{"InputTensor", from},
                               {"OutputTensor", to},
                               {"DimensionCount", 1},
                               {"InputWindowOffsets", {begin}},
                               {"InputWindowSizes", {count}},
                               {"InputWindowStrides", {1}}});
}

class GraphOnD3d12 : public OtherDeviceTest {
protected:
    std::unique_ptr<d3d12::D3d12Executable> compiled(const std::shared_ptr<const Graph>& graph) {
        for (const operators::GraphNode& node : graph->nodes) {
            const auto rejection = operators::validate(*node.descriptor, core::highest_feature_level);
            EXPECT_FALSE(rejection) << node.name << ": " << rejection->message;
        }
        auto plan = d3d12::plan_graph(device_->addressable, *graph);
        EXPECT_TRUE(plan.has_value());
        plan_ = std::move(*plan);
        auto executable = d3d12::D3d12Executable::create(device_, plan_);
        EXPECT_TRUE(executable.has_value()) << executable.error().message;
        return std::unique_ptr<d3d12::D3d12Executable>(dynamic_cast<d3d12::D3d12Executable*>(executable->release()));
    }

    static Tensors executed(Executable& executable, const Graph& graph, const Tensors& inputs) {
        for (const auto& result : {executable.bind(pointers_to(inputs)), executable.execute()}) {
            EXPECT_TRUE(result.has_value()) << result.error().message;
        }
        return outputs_of(executable, graph);
    }

    static Tensors outputs_of(Executable& executable, const Graph& graph) {
        Tensors outputs;
        std::vector<core::Tensor*> targets;
        outputs.reserve(graph.outputs.size());
        for (const ValueIndex value : graph.outputs) {
            targets.push_back(&outputs.emplace_back(core::output_tensor(graph.values[value].desc)));
        }
        EXPECT_TRUE(executable.read(targets).has_value());
        for (const core::Tensor& output : outputs) {
            EXPECT_FALSE(core::find_stray_write(output).has_value());
        }
        return outputs;
    }

    /// All values, computed node by node on the same adapter.
    static std::map<ValueIndex, core::Tensor> by_nodes(const Graph& graph, const Tensors& inputs) {
        std::map<ValueIndex, core::Tensor> values;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            values.emplace(graph.inputs[i], copy_of(inputs[i], inputs[i].desc));
        }
        for (const std::size_t n : graph.execution_order()) {
            const operators::GraphNode& node = graph.nodes[n];
            const auto slots = node.descriptor->inputs();
            Tensors read;
            for (std::size_t i = 0; i < slots.size(); ++i) {
                read.push_back(slots[i].desc == nullptr ? core::Tensor()
                                                        : copy_of(values.at(node.inputs[i]), *slots[i].desc));
            }
            Descriptor apart = *node.descriptor;
            apart.in_place.clear();
            Tensors written = run_on(engine(), apart, read);
            for (std::size_t o = 0; o < written.size(); ++o) {
                if (node.outputs[o] != no_value) {
                    values.emplace(node.outputs[o], std::move(written[o]));
                }
            }
        }
        return values;
    }

    /// The tensor's bytes in another layout.
    static core::Tensor copy_of(const core::Tensor& from, const core::TensorDesc& desc) {
        core::Tensor tensor(desc);
        std::ranges::copy(from.buffer.bytes().first(static_cast<std::size_t>(desc.total_bytes)),
                          tensor.buffer.bytes().begin());
        return tensor;
    }

    static Tensors random_inputs(const Graph& graph, std::uint64_t seed) {
        Random random(seed);
        Tensors inputs;
        for (const ValueIndex value : graph.inputs) {
            const core::TensorDesc& desc = graph.values[value].desc;
            const bool real = desc.data_type == DataType::float32 || desc.data_type == DataType::float16;
            inputs.push_back(real ? drawn(desc, [&] { return random.between_reals(-8, 8); })
                                  : random_bits(random, desc));
        }
        return inputs;
    }

    static void expect_same_bits(const Graph& graph, const Tensors& outputs, const Tensors& inputs) {
        const auto values = by_nodes(graph, inputs);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            EXPECT_EQ(elements_of(outputs[o]), elements_of(values.at(graph.outputs[o]))) << "output " << o;
        }
    }

    std::vector<RecordedCommand> recorded(const d3d12::D3d12Executable& executable) {
        RecordingList list;
        std::size_t next = 0;
        EXPECT_FALSE(executable.record(list, next));
        return list.commands;
    }

    /// Runs the graph twice with each of two sets of inputs, and checks the recorded commands.
    std::unique_ptr<d3d12::D3d12Executable> expect_right(const std::shared_ptr<const Graph>& graph) {
        auto executable = compiled(graph);
        for (const std::uint64_t seed : {1u, 2u}) {
            const Tensors inputs = random_inputs(*graph, seed);
            expect_same_bits(*graph, executed(*executable, *graph, inputs), inputs);
            EXPECT_TRUE(executable->execute().has_value());
            expect_same_bits(*graph, outputs_of(*executable, *graph), inputs);
        }
        EXPECT_TRUE(executable->bind(pointers_to(random_inputs(*graph, 3))).has_value());
        expect_barriers_where_needed(recorded(*executable), plan_);
        return executable;
    }

    GraphPlan plan_;
};

/// No barrier is superfluous, and none is missing.
TEST_F(GraphOnD3d12, AChainOfFiftyNodes) {
    for (const std::uint32_t count : {100u, 100'000u}) {
        const auto desc = tensor(DataType::float32, {count});
        IndexedGraph graph;
        ValueIndex value = graph.input("x", desc);
        const ValueIndex y = graph.input("y", desc);
        for (int i = 0; i < 25; ++i) {
            value = graph.node(binary("ELEMENT_WISE_SUBTRACT", desc), {y, value}).front();
            value = graph.node(unary("ACTIVATION_RELU", desc, desc), {value}).front();
        }
        graph.output(value);
        const auto built = graph.built();
        const auto executable = expect_right(built);
        const auto commands = recorded(*executable);
        EXPECT_EQ(std::ranges::count(commands, Kind::dispatch, &RecordedCommand::kind), 50);
        EXPECT_EQ(std::ranges::count(commands, Kind::unordered_access_barrier, &RecordedCommand::kind), 49);
        EXPECT_EQ(executable->intermediate_bytes(), 2 * ((count * 4 + 255) / 256 * 256));
        const auto times = executable->time_nodes();
        ASSERT_TRUE(times.has_value()) << times.error().message;
        EXPECT_EQ(times->size(), 50u);
        EXPECT_EQ(executable->node_times(), *times);
        expect_same_bits(*built, outputs_of(*executable, *built), random_inputs(*built, 3));
    }
}

/// Such a graph is executed by several lists, and its values outlast each of them.
TEST_F(GraphOnD3d12, MoreDispatchesThanAListHas) {
    constexpr std::size_t count = 2 * d3d12::Commands::most_dispatches + 100;
    const auto desc = tensor(DataType::float32, {4});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", desc);
    ValueIndex value = x;
    for (std::size_t i = 0; i < count; ++i) {
        value = graph.node(binary("ELEMENT_WISE_SUBTRACT", desc), {x, value}).front();
    }
    graph.output(value);
    const auto built = graph.built();
    const auto executable = compiled(built);
    const Tensors inputs = random_inputs(*built, 1);
    // x - (x - (x - ...)) is 0 or x.
    const Tensors outputs = executed(*executable, *built, inputs);
    EXPECT_EQ(elements_of(outputs.front()), elements_of(inputs.front()));

    std::vector<std::ptrdiff_t> dispatches;
    std::size_t next = 0;
    for (bool has_more = true; has_more;) {
        RecordingList list;
        has_more = executable->record(list, next);
        dispatches.push_back(std::ranges::count(list.commands, Kind::dispatch, &RecordedCommand::kind));
    }
    EXPECT_EQ(dispatches,
              (std::vector<std::ptrdiff_t>{d3d12::Commands::most_dispatches, d3d12::Commands::most_dispatches, 100}));

    const auto nodes = executable->time_nodes();
    ASSERT_TRUE(nodes.has_value()) << nodes.error().message;
    EXPECT_EQ(nodes->size(), count);
    EXPECT_EQ(elements_of(outputs_of(*executable, *built).front()), elements_of(inputs.front()));
    Executable* const turn[] = {executable.get(), executable.get()};
    for (const std::size_t per_time : {1u, 2u}) {
        const auto times = executable->execute_in_turn(turn, per_time);
        ASSERT_TRUE(times.has_value()) << times.error().message;
        EXPECT_EQ(times->size(), 2 / per_time);
        EXPECT_GT(times->front().count(), 0);
    }
}

/// 24 independent branches of two nodes each, which need no barriers between them. Their sum is computed in pairs.
TEST_F(GraphOnD3d12, BranchesDoNotWaitForEachOther) {
    const auto desc = tensor(DataType::float32, {1000});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", desc);
    std::vector<ValueIndex> values;
    for (int i = 0; i < 24; ++i) {
        values.push_back(
            graph.node(unary(i % 2 == 0 ? "ACTIVATION_TANH" : "ACTIVATION_SIGMOID", desc, desc), {x}).front());
    }
    while (values.size() > 1) {
        std::vector<ValueIndex> sums;
        for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
            sums.push_back(graph.node(binary("ELEMENT_WISE_SUBTRACT", desc), {values[i], values[i + 1]}).front());
        }
        if (values.size() % 2 == 1) {
            sums.push_back(values.back());
        }
        values = sums;
    }
    graph.output(values.front());
    const auto executable = expect_right(graph.built());
    const auto commands = recorded(*executable);
    EXPECT_EQ(std::ranges::count(commands, Kind::dispatch, &RecordedCommand::kind), 47);
    // Barriers between levels of 24, 12, 6, 3, 1 and 1 nodes.
    EXPECT_EQ(std::ranges::count(commands, Kind::unordered_access_barrier, &RecordedCommand::kind), 5);
    // The values of a level and of the preceding one are alive at the same time.
    EXPECT_EQ(executable->intermediate_bytes(), 36 * 4096u);
}

TEST_F(GraphOnD3d12, DiamondsAndSeveralReaders) {
    const auto desc = tensor(DataType::float32, {3, 77});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", desc);
    const ValueIndex a = graph.node(unary("ACTIVATION_TANH", desc, desc), {x}).front();
    const ValueIndex b = graph.node(unary("ACTIVATION_RELU", desc, desc), {a}).front();
    const ValueIndex c = graph.node(binary("ELEMENT_WISE_MULTIPLY", desc), {a, a}).front();
    const ValueIndex d = graph.node(binary("ELEMENT_WISE_SUBTRACT", desc), {b, c}).front();
    const ValueIndex e = graph.node(binary("ELEMENT_WISE_SUBTRACT", desc), {d, x}).front();
    const ValueIndex f = graph.node(binary("ELEMENT_WISE_SUBTRACT", desc), {a, e}).front();
    // Outputs that other nodes also read.
    for (const ValueIndex output : {f, a, d}) {
        graph.output(output);
    }
    expect_right(graph.built());
}

TEST_F(GraphOnD3d12, EdgesThatReinterpretBytes) {
    const auto flat = tensor(DataType::float32, {24});
    const auto square = tensor(DataType::float32, {1, 2, 3, 4});
    const auto transposed = tensor(DataType::float32, {4, 6}, {1, 4});
    const auto reversed_roles = tensor(DataType::float32, {6, 4}, {1, 6});
    const auto integers = tensor(DataType::uint32, {24});
    const auto bytes = tensor(DataType::uint8, {96});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", flat);
    const ValueIndex y = graph.input("y", square);
    const ValueIndex a = graph.node(unary("ACTIVATION_TANH", flat, flat), {x}).front();
    const ValueIndex b = graph.node(binary("ELEMENT_WISE_SUBTRACT", square), {a, y}).front();
    const ValueIndex c =
        graph.node(unary("ELEMENT_WISE_ABS", transposed, tensor(DataType::float32, {4, 6})), {b}).front();
    const ValueIndex d =
        graph.node(unary("ELEMENT_WISE_IDENTITY", tensor(DataType::float32, {6, 4}), reversed_roles), {c}).front();
    const ValueIndex e = graph.node(binary("ELEMENT_WISE_BIT_AND", integers), {d, c}).front();
    const ValueIndex f = graph.node(binary("ELEMENT_WISE_ADD", bytes), {e, b}).front();
    // The graph's inputs may be read by several nodes, too.
    const ValueIndex g = graph.node(binary("ELEMENT_WISE_BIT_XOR", integers), {x, y}).front();
    graph.output(f);
    graph.output(d);
    graph.output(g);
    expect_right(graph.built());
}

/// A node reads more of the bytes than the producer writes, or fewer.
TEST_F(GraphOnD3d12, EdgesWithGapsAtEitherEnd) {
    auto every_second = tensor(DataType::float32, {50}, {2});
    const auto all = tensor(DataType::float32, {99});
    every_second.total_bytes = all.total_bytes;
    const auto half = tensor(DataType::float32, {50});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", all);
    const ValueIndex y = graph.input("y", half);
    const ValueIndex a = graph.node(unary("ACTIVATION_RELU", all, all), {x}).front();
    const ValueIndex b = graph.node(unary("ACTIVATION_TANH", every_second, half), {a}).front();
    const ValueIndex c = graph.node(unary("ACTIVATION_TANH", half, every_second), {y}).front();
    const ValueIndex d = graph.node(unary("ACTIVATION_RELU", every_second, half), {c}).front();
    graph.output(b);
    graph.output(c);
    graph.output(d);
    expect_right(graph.built());
}

/// Plans with temporaries, some of which start as zeros, and several dispatches, between other nodes that reuse the
/// memory.
TEST_F(GraphOnD3d12, NodesOfSeveralDispatches) {
    const std::uint32_t length = (1u << 22) + 321;
    const auto line = tensor(DataType::float32, {1, length});
    const auto winners = tensor(DataType::float32, {1, 64});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", line);
    const ValueIndex a = graph.node(unary("ACTIVATION_RELU", line, line), {x}).front();
    const Descriptor top = top_k1(DataType::float32, {1, length}, 1, 64);
    const auto best = graph.node(top, {a});
    const auto sum = [&](const core::TensorDesc& from) {
        return describe("REDUCE", {{"Function", 10},  // Function 10 is SUM
                                   {"InputTensor", from},
                                   {"OutputTensor", tensor(DataType::float32, {1, 1})},
                                   {"AxisCount", 1},
                                   {"Axes", {1}}});
    };
    const ValueIndex total = graph.node(sum(line), {a}).front();
    const ValueIndex b = graph.node(unary("ELEMENT_WISE_ABS", line, line), {a}).front();
    const ValueIndex second_total = graph.node(sum(line), {b}).front();
    const ValueIndex few = graph.node(unary("ACTIVATION_TANH", winners, winners), {best[0]}).front();
    graph.output(total);
    graph.output(second_total);
    graph.output(few);
    graph.output(best[1]);
    const auto executable = expect_right(graph.built());
    EXPECT_FALSE(plan_.plan.zeroed.empty());
    EXPECT_GT(plan_.plan.dispatches.size(), 8u);
    EXPECT_LT(executable->intermediate_bytes(), 3 * line.total_bytes);
}

/// Outputs share the memory of an input, unless another node reads that input.
TEST_F(GraphOnD3d12, NodesInPlace) {
    const auto desc = tensor(DataType::float32, {20'000});
    const auto in_place = [&](std::size_t input) {
        Descriptor add = binary("ELEMENT_WISE_SUBTRACT", desc);
        add.in_place = {input};
        return add;
    };
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", desc);
    const ValueIndex y = graph.input("y", desc);
    const ValueIndex z = graph.input("z", desc);
    const ValueIndex a = graph.node(unary("ACTIVATION_TANH", desc, desc), {x}).front();
    const ValueIndex b = graph.node(in_place(0), {a, y}).front();  // in the memory of a
    const ValueIndex c = graph.node(in_place(1), {y, b}).front();  // in the memory of b
    const ValueIndex d = graph.node(in_place(0), {z, c}).front();  // z is an input of the graph, so not shared
    const ValueIndex e = graph.node(in_place(0), {d, d}).front();  // d is read twice, so not shared
    const ValueIndex f = graph.node(in_place(0), {c, e}).front();  // another node reads c, so not shared
    graph.output(f);
    const auto executable = expect_right(graph.built());
    ASSERT_EQ(plan_.plan.temporaries.size(), 3u) << "a, b and c are one; d; e";
}

/// Random graphs of element-wise operators, slices, joins and sums.
TEST_F(GraphOnD3d12, RandomGraphs) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Random random(seed);
        const std::uint32_t count = random.one_of(std::vector<std::uint32_t>{5, 64, 1001, 20'000});
        const auto desc = tensor(random.chance(3) ? DataType::float16 : DataType::float32, {count});
        IndexedGraph graph;
        std::vector<ValueIndex> values;
        for (std::uint32_t i = random.between(1, 3); i > 0; --i) {
            values.push_back(graph.input(fmt::format("x{}", i), desc));
        }
        const std::uint32_t nodes = random.between(2, 20);
        for (std::uint32_t n = 0; n < nodes; ++n) {
            const ValueIndex a = random.one_of(values);
            const ValueIndex b = random.one_of(values);
            switch (random.between(0, 3)) {
                case 0:
                    values.push_back(graph.node(unary("ACTIVATION_TANH", desc, desc), {a}).front());
                    break;
                case 1:
                    values.push_back(graph.node(binary("ELEMENT_WISE_SUBTRACT", desc), {a, b}).front());
                    break;
                case 2: {
                    // Rotates the elements.
                    const std::uint32_t cut = random.between(1, count - 1);
                    const ValueIndex first = graph.node(slice(desc, 0, cut), {a}).front();
                    const ValueIndex second = graph.node(slice(desc, cut, count - cut), {b}).front();
                    operators::TensorDescArray parts{
                        {tensor(desc.data_type, {count - cut}), tensor(desc.data_type, {cut})}};
                    values.push_back(graph
                                         .node(describe("JOIN", {{"InputCount", 2},
                                                                 {"InputTensors", operators::FieldValue(parts)},
                                                                 {"OutputTensor", desc},
                                                                 {"Axis", 0}}),
                                               {second, first})
                                         .front());
                    break;
                }
                default:
                    values.push_back(
                        graph
                            .node(describe(
                                      "ACTIVATION_SOFTMAX1",
                                      {{"InputTensor", desc}, {"OutputTensor", desc}, {"AxisCount", 1}, {"Axes", {0}}}),
                                  {a})
                            .front());
            }
        }
        graph.output(values.back());
        if (random.chance(2)) {
            const ValueIndex other = random.one_of(values);
            if (graph.graph().values[other].producer && other != values.back()) {
                graph.output(other);
            }
        }
        expect_right(graph.built());
    }
}

/// Through the engine's interface, like a run: rejects illegal graphs and runs legal ones.
TEST_F(GraphOnD3d12, ByTheEnginesInterface) {
    const auto desc = tensor(DataType::float16, {1000});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", desc);
    const ValueIndex a = graph.node(unary("ACTIVATION_TANH", desc, desc), {x}).front();
    const ValueIndex b = graph.node(unary("ACTIVATION_RELU", desc, desc), {a}).front();
    graph.output(b);
    const auto built = graph.built();
    const auto face = operators::graph_descriptor(built);
    ASSERT_FALSE(engine().unsupported_graph(*face).has_value());
    auto executable = engine().compile_graph(*face);
    ASSERT_TRUE(executable.has_value()) << executable.error().rejection.message;
    const Tensors inputs = random_inputs(*built, 1);
    expect_same_bits(*built, executed(**executable, *built, inputs), inputs);
    EXPECT_EQ(dynamic_cast<GraphMeasurements&>(**executable).intermediate_bytes(), 2048u);

    (void)graph.node(unary("ACTIVATION_TANH", desc, desc), {b});  // unused
    const auto rejected = engine().compile_graph(*operators::graph_descriptor(graph.built()));
    ASSERT_FALSE(rejected.has_value());
    EXPECT_EQ(rejected.error().kind, CompileFailure::Kind::rejected);
    EXPECT_EQ(rejected.error().rejection.rule, "graph.unusedNode");
}

/// Values of an earlier execution must not be mistaken for those of the next one.
TEST_F(GraphOnD3d12, MemoryBetweenNodesBeginsUntouched) {
    const auto desc = tensor(DataType::float32, {1000});
    IndexedGraph graph;
    const ValueIndex x = graph.input("x", desc);
    const ValueIndex a = graph.node(unary("ACTIVATION_TANH", desc, desc), {x}).front();
    graph.output(graph.node(unary("ACTIVATION_RELU", desc, desc), {a}).front());
    const auto built = graph.built();
    const Tensors inputs = random_inputs(*built, 1);
    (void)executed(*compiled(built), *built, inputs);
    GraphPlan plan = plan_;
    plan.plan.dispatches.erase(plan.plan.dispatches.begin());
    plan.ends = {0, 1};
    auto without_first = d3d12::D3d12Executable::create(device_, plan);
    ASSERT_TRUE(without_first.has_value());
    const Tensors outputs = executed(**without_first, *built, inputs);
    // A float whose bytes are all 0xcd is negative.
    EXPECT_THAT(values_of<float>(outputs.front()), testing::Each(0.0F));
}

}  // namespace
}  // namespace dmlconform::tests::graph_test
