// Tests of RNN, LSTM and GRU on the D3D12 engine: their plans, and networks of all sizes and layouts.
#include <array>
#include <string_view>

#include "engine/operators/enumerations.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::recurrent_test {
namespace {

using core::DataType;
using core::Dimensions;
using operators::Descriptor;

struct Shape {
    std::uint32_t steps = 1;
    std::uint32_t batch = 1;
    std::uint32_t inputs = 1;
    std::uint32_t hidden = 1;
};

/// The properties in which the three operators differ.
struct Network {
    std::string_view op;
    std::uint32_t gates;
    std::size_t activations;
};

constexpr std::array<Network, 3> networks{{{"RNN", 1, 1}, {"LSTM", 4, 3}, {"GRU", 3, 2}}};

/// A forward network without optional tensors, which outputs only the last states.
Descriptor plain(const Network& network, const Shape& shape) {
    const auto real = [](Dimensions sizes) { return tensor(DataType::float32, std::move(sizes)); };
    return describe(network.op, {{"InputTensor", real({1, shape.steps, shape.batch, shape.inputs})},
                                 {"WeightTensor", real({1, 1, network.gates * shape.hidden, shape.inputs})},
                                 {"RecurrenceTensor", real({1, 1, network.gates * shape.hidden, shape.hidden})},
                                 {"OutputSingleTensor", real({1, 1, shape.batch, shape.hidden})},
                                 {"ActivationDescs", operators::OperatorDescArray{std::vector<operators::OperatorDesc>(
                                                         network.activations, activation("ACTIVATION_TANH"))}}});
}

d3d12::DispatchPlan plan_of(const Descriptor& descriptor) {
    return d3d12::find_binding(descriptor.schema->short_name())->plan(descriptor);
}

// ---- Planning ----

TEST(RecurrentPlanning, DispatchesOfAStep) {
    const Shape shape{7, 5, 3, 4};
    const Descriptor gru = plain(networks[2], shape);
    const struct {
        Descriptor descriptor;
        std::size_t each_step;
        std::size_t temporaries;
    } rows[] = {{plain(networks[0], shape), 1, 2},
                {plain(networks[1], shape), 1, 3},
                {gru, 2, 4},
                {with(gru, {{"LinearBeforeReset", 1}}), 1, 2}};
    for (const auto& row : rows) {
        SCOPED_TRACE(text_of(row.descriptor));
        const d3d12::DispatchPlan plan = plan_of(row.descriptor);
        EXPECT_EQ(plan.dispatches.size(), 1 + 7 * row.each_step + 1);
        EXPECT_EQ(plan.temporaries, std::vector<std::uint64_t>(row.temporaries, 5 * 4 * 4));
    }
}

/// A step reads what the preceding step wrote, and writes to other memory.
TEST(RecurrentPlanning, StatesTakeTurns) {
    constexpr std::size_t before = 11;
    constexpr std::size_t after = 12;
    for (const Network& network : networks) {
        for (const std::uint32_t steps : {1u, 2u, 5u}) {
            SCOPED_TRACE(testing::Message() << network.op << ", " << steps << " steps");
            std::size_t latest = 2;
            for (const d3d12::Dispatch& dispatch : plan_of(plain(network, {steps, 2, 2, 2})).dispatches) {
                EXPECT_NE(dispatch.buffers[before].index, dispatch.buffers[after].index);
                if (dispatch.shader.shader == "recurrent_begin") {
                    latest = dispatch.buffers[after].index;
                    continue;
                }
                EXPECT_EQ(dispatch.buffers[before].index, latest);
                const bool makes_states = dispatch.shader.key() != "recurrent_step CELL=2";
                latest = dispatch.buffers[makes_states ? after : before].index;
            }
        }
    }
}

TEST(RecurrentPlanning, WhatIsTooLongIsUnsupported) {
    const struct {
        Shape shape;
        bool supported;
    } rows[] = {{{1 << 16, 1, 1, 1}, true},
                {{(1 << 16) + 1, 1, 1, 1}, false},
                {{1, 1, (1 << 18) - 2, 2}, true},
                {{1, 1, (1 << 18) - 1, 2}, false}};
    for (const Network& network : networks) {
        for (const auto& [shape, supported] : rows) {
            const Descriptor descriptor = plain(network, shape);
            SCOPED_TRACE(text_of(descriptor));
            EXPECT_EQ(!d3d12::find_binding(network.op)->unsupported(descriptor), supported);
        }
    }
}

// ---- Networks ----

using NetworksOnD3d12 = D3d12Test;

constexpr auto bidirectional = static_cast<std::uint32_t>(operators::RecurrentNetworkDirection::bidirectional);

/// A network of random direction and layouts, with a random selection of optional tensors.
Descriptor random_network(Random& random, const Network& network, const Shape& shape) {
    const std::uint32_t direction = random.between(0, bidirectional);
    const std::uint32_t directions = direction == bidirectional ? 2 : 1;
    const std::uint32_t rows = network.gates * shape.hidden;
    const DataType type = random.chance(2) ? DataType::float16 : DataType::float32;
    const Dimensions states{1, directions, shape.batch, shape.hidden};
    const auto source = [&](Dimensions sizes) { return random_input(random, type, sizes); };
    const auto target = [&](Dimensions sizes) { return random_output(random, type, sizes); };
    constexpr std::array<std::string_view, 5> functions{"ACTIVATION_TANH", "ACTIVATION_SIGMOID", "ACTIVATION_SOFTSIGN",
                                                        "ACTIVATION_RELU", "ACTIVATION_IDENTITY"};
    operators::OperatorDescArray activations;
    for (std::size_t i = 0; i < network.activations * directions; ++i) {
        activations.items.push_back(activation(random.one_of(functions)));
    }
    std::vector<Setting> settings{
        {"InputTensor", source({1, shape.steps, shape.batch, shape.inputs})},
        {"WeightTensor", source({1, directions, rows, shape.inputs})},
        {"RecurrenceTensor", source({1, directions, rows, shape.hidden})},
        {"OutputSequenceTensor", target({shape.steps, directions, shape.batch, shape.hidden})},
        {"ActivationDescs", std::move(activations)},
        {"Direction", direction}};
    if (random.chance(2)) {
        settings.emplace_back("BiasTensor", source({1, 1, directions, 2 * rows}));
    }
    if (random.chance(2)) {
        settings.emplace_back("HiddenInitTensor", source(states));
        settings.emplace_back("OutputSingleTensor", target(states));
    }
    if (random.chance(2)) {
        settings.emplace_back("SequenceLengthsTensor", random_input(random, DataType::uint32, {1, 1, 1, shape.batch}));
    }
    const Descriptor descriptor = describe(network.op, settings);
    if (descriptor.has_field("LinearBeforeReset")) {
        return with(descriptor, {{"LinearBeforeReset", random.between(0, 1)}});
    }
    if (!descriptor.has_field("PeepholeTensor") || random.chance(4)) {
        return descriptor;
    }
    return with(descriptor, {{"CellMemInitTensor", source(states)},
                             {"PeepholeTensor", source({1, 1, directions, 3 * shape.hidden})},
                             {"OutputCellSingleTensor", target(states)},
                             {"ClipThreshold", 0.75},
                             {"UseClipThreshold", random.between(0, 1)},
                             {"CoupleInputForget", random.between(0, 1)}});
}

/// Weights are so small that states stay near 1 even with a large hidden size. Some sequence lengths are zero or too
/// large.
std::vector<core::Tensor> random_inputs(Random& random, const Descriptor& descriptor, const Shape& shape) {
    const double most = 2.0 / std::max(shape.inputs, shape.hidden);
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.desc->data_type == DataType::uint32) {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between(0, shape.steps + 1); }));
        } else {
            const double bound = slot.name == "WeightTensor" || slot.name == "RecurrenceTensor" ? most : 1;
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(-bound, bound); }));
        }
    }
    return inputs;
}

void expect_like_reference(Engine& engine, Random& random, const Network& network, const Shape& shape) {
    const Descriptor descriptor = random_network(random, network, shape);
    tests::expect_like_reference(engine, descriptor, random_inputs(random, descriptor, shape));
}

TEST_F(NetworksOnD3d12, RandomNetworks) {
    Random random(1);
    for (int turn = 0; turn < 60 && !HasFailure(); ++turn) {
        for (const Network& network : networks) {
            expect_like_reference(
                engine(), random, network,
                {random.between(1, 4), random.between(1, 5), random.between(1, 9), random.between(1, 9)});
        }
    }
}

/// Sizes around the number of threads that share a sum, of batches that share weights, and of units in a thread group.
TEST_F(NetworksOnD3d12, EdgesOfGroups) {
    Random random(2);
    for (const Network& network : networks) {
        for (const std::uint32_t inputs : {31u, 32u, 33u, 65u}) {
            for (const std::uint32_t hidden : {1u, 8u, 33u}) {
                for (const std::uint32_t batch : {4u, 5u, 9u}) {
                    expect_like_reference(engine(), random, network, {2, batch, inputs, hidden});
                }
            }
        }
    }
}

TEST_F(NetworksOnD3d12, ManySteps) {
    Random random(3);
    for (const Network& network : networks) {
        expect_like_reference(engine(), random, network, {700, 2, 2, 3});
    }
}

}  // namespace
}  // namespace dmlconform::tests::recurrent_test
