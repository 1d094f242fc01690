// Compares the time of a graph with 50 small nodes with that of its nodes run separately. Prints the times;
// docs/performance.md quotes those of a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/d3d12/device/executable.h"
#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/indexed_graph.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::graph_times_test {
namespace {

using core::DataType;
using operators::Descriptor;
using operators::ValueIndex;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

using GraphTimes = OtherDeviceTest;

constexpr int node_count = 50;
constexpr int repetitions = 20;

/// Convolutions, activations and sums, as in a small network.
operators::Graph small_nodes() {
    const auto image = tensor(DataType::float32, {1, 16, 32, 32});
    const auto filter = tensor(DataType::float32, {16, 16, 1, 1});
    const Descriptor convolution = plain_convolution(image, filter, image);
    const Descriptor tanh = describe("ACTIVATION_TANH", {{"InputTensor", image}, {"OutputTensor", image}});
    const Descriptor add =
        describe("ELEMENT_WISE_ADD", {{"ATensor", image}, {"BTensor", image}, {"OutputTensor", image}});
    IndexedGraph graph;
    ValueIndex value = graph.input("x", image);
    const ValueIndex weights = graph.input("w", filter);
    for (int i = 0; i + 4 < node_count; i += 5) {
        const ValueIndex before = value;
        value = graph.node(convolution, {value, weights, operators::no_value}).front();
        value = graph.node(tanh, {value}).front();
        value = graph.node(convolution, {value, weights, operators::no_value}).front();
        value = graph.node(add, {value, before}).front();
        value = graph.node(tanh, {value}).front();
    }
    graph.output(value);
    return graph.graph();
}

/// The shortest of several executions, by the processor's clock and by the device's.
struct Times {
    nanoseconds here = nanoseconds::max();
    nanoseconds device = nanoseconds::max();
};

/// If `all` is set, includes binding and reading, as when values pass through the processor's memory.
Times shortest(Executable& executable, const std::vector<core::Tensor>& inputs, core::Tensor& output, bool all) {
    Times times;
    core::Tensor* const outputs[] = {&output};
    EXPECT_TRUE(executable.bind(pointers_to(inputs)).has_value());
    for (int i = 0; i < repetitions; ++i) {
        const auto start = Clock::now();
        if (all) {
            EXPECT_TRUE(executable.bind(pointers_to(inputs)).has_value());
        }
        EXPECT_TRUE(executable.execute().has_value());
        if (all) {
            EXPECT_TRUE(executable.read(outputs).has_value());
        }
        times.here = std::min<nanoseconds>(times.here, Clock::now() - start);
        times.device = std::min(times.device, executable.device_time().value_or(nanoseconds::max()));
    }
    return times;
}

std::vector<core::Tensor> inputs_for(const Descriptor& descriptor, Random& random) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        inputs.push_back(slot.desc == nullptr ? core::Tensor()
                                              : drawn(*slot.desc, [&] { return random.between_reals(-0.3, 0.3); }));
    }
    return inputs;
}

double microseconds(nanoseconds time) {
    return static_cast<double>(time.count()) / 1000;
}

TEST_F(GraphTimes, FiftySmallNodes) {
    const auto graph = std::make_shared<const operators::Graph>(small_nodes());
    ASSERT_EQ(graph->nodes.size(), static_cast<std::size_t>(node_count));
    const auto face = operators::graph_descriptor(graph);
    const auto plan = d3d12::plan_graph(device_->addressable, *graph);
    ASSERT_TRUE(plan.has_value());
    const auto whole = d3d12::D3d12Executable::create(device_, *plan);
    ASSERT_TRUE(whole.has_value());
    Random random(1);
    const auto inputs = inputs_for(*face, random);
    core::Tensor output = core::output_tensor(*face->outputs().front().desc);
    const Times as_graph = shortest(**whole, inputs, output, true);

    // Equal operators share their times.
    std::map<const operators::OperatorSchema*, Times> alone;
    nanoseconds sum_here{};
    nanoseconds sum_device{};
    for (const operators::GraphNode& node : graph->nodes) {
        auto found = alone.find(node.descriptor->schema);
        if (found == alone.end()) {
            auto executable = engine().compile(*node.descriptor);
            ASSERT_TRUE(executable.has_value());
            found = alone
                        .emplace(node.descriptor->schema,
                                 shortest(**executable, inputs_for(*node.descriptor, random), output, true))
                        .first;
        }
        sum_here += found->second.here;
        sum_device += found->second.device;
    }
    auto& measurements = dynamic_cast<GraphMeasurements&>(**whole);
    const auto by_node = measurements.time_nodes();
    ASSERT_TRUE(by_node.has_value()) << by_node.error().message;
    const nanoseconds timed = std::accumulate(by_node->begin(), by_node->end(), nanoseconds{});
    fmt::print(
        "{}: device {:.0f} µs as a graph, {:.0f} µs for the nodes one by one, {:.0f} µs with a timestamp around "
        "each; all in all {:.0f} µs and {:.0f} µs; {} bytes between nodes\n",
        adapter().name, microseconds(as_graph.device), microseconds(sum_device), microseconds(timed),
        microseconds(as_graph.here), microseconds(sum_here), measurements.intermediate_bytes());
    EXPECT_EQ(measurements.intermediate_bytes(), 3 * 65536u);
}

}  // namespace
}  // namespace dmlconform::tests::graph_times_test
