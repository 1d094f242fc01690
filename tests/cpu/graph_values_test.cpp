// Tests of engine/graph_values: memory of values that are no longer needed is used again.
#include <gtest/gtest.h>

#include "engine/graph_values.h"
#include "tests/graph_builder.h"

namespace dmlconform::tests::graph_values_test {
namespace {

const core::TensorDesc desc = core::TensorDesc::packed(core::DataType::float32, {1, 1, 256, 256});

/// x -> a -> b -> c -> d, where d is the output.
operators::Graph chain() {
    return plain_graph(
        {unary("first", "ACTIVATION_RELU", desc, "x", "a"), unary("second", "ACTIVATION_RELU", desc, "a", "b"),
         unary("third", "ACTIVATION_RELU", desc, "b", "c"), unary("fourth", "ACTIVATION_RELU", desc, "c", "d")},
        {"d"});
}

TEST(GraphValues, ReusesMemoryOfReleasedValues) {
    const operators::Graph graph = chain();
    const core::Tensor x(desc);
    const core::Tensor* const inputs[] = {&x};
    GraphValues values(graph);
    values.start(inputs);
    const auto put = [&](std::size_t position) {
        const auto index = graph.nodes[values.order()[position]].outputs[0];
        return values.put(index, values.new_tensor(desc)).buffer.bytes().data();
    };
    const std::byte* const a = put(0);
    values.release_after(0);
    const std::byte* const b = put(1);
    EXPECT_NE(b, a) << "a is still needed";
    values.release_after(1);
    EXPECT_EQ(put(2), a);
    values.release_after(2);
    const std::byte* const d = put(3);
    EXPECT_EQ(d, b);
    values.release_after(3);
    EXPECT_EQ(values.at(graph.outputs[0]).buffer.bytes().data(), d) << "outputs are kept";
    // In the next run, all of it is free.
    values.start(inputs);
    const std::byte* const again = put(0);
    EXPECT_TRUE(again == a || again == b);
}

TEST(GraphValues, GivesReusedTensorsTheirOwnSizes) {
    const operators::Graph graph = chain();
    const core::Tensor x(desc);
    const core::Tensor* const inputs[] = {&x};
    GraphValues values(graph);
    values.start(inputs);
    values.put(graph.nodes[0].outputs[0], values.new_tensor(desc));
    values.release_after(0);
    values.put(graph.nodes[1].outputs[0], values.new_tensor(desc));
    values.release_after(1);
    const core::TensorDesc other = core::TensorDesc::packed(core::DataType::uint8, {512, 512});
    const core::Tensor tensor = values.new_tensor(other);
    EXPECT_EQ(tensor.desc, other);
    EXPECT_EQ(tensor.buffer.bytes().size(), other.total_bytes);
    const core::TensorDesc larger = core::TensorDesc::packed(core::DataType::float32, {1024, 1024});
    EXPECT_EQ(values.new_tensor(larger).buffer.bytes().size(), larger.total_bytes);
}

}  // namespace
}  // namespace dmlconform::tests::graph_values_test
