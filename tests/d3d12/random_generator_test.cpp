// Tests of RANDOM_GENERATOR on the D3D12 engine: known answers, and any length, layout and state.
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::random_generator_test {
namespace {

using core::DataType;
using operators::Descriptor;

using RandomGeneratorOnD3d12 = D3d12Test;

Descriptor generator(core::TensorDesc state, core::TensorDesc output, core::TensorDesc new_state) {
    return describe("RANDOM_GENERATOR", {{"InputStateTensor", std::move(state)},
                                         {"OutputTensor", std::move(output)},
                                         {"OutputStateTensor", std::move(new_state)}});
}

/// The third known answer of Random123.
TEST_F(RandomGeneratorOnD3d12, KnownAnswer) {
    const auto words = [](std::uint32_t count) { return tensor(DataType::uint32, {count}); };
    const Descriptor descriptor = generator(words(6), words(4), words(6));
    std::vector<core::Tensor> inputs;
    inputs.push_back(
        tensor_of<std::uint32_t>(words(6), {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}));
    const auto outputs = run_on(engine(), descriptor, inputs);
    EXPECT_EQ(values_of<std::uint32_t>(outputs[0]),
              (std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
    EXPECT_EQ(values_of<std::uint32_t>(outputs[1]),
              (std::vector<std::uint32_t>{0x243f6a89, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}));
}

TEST_F(RandomGeneratorOnD3d12, LikeReference) {
    Random random(1);
    for (int turn = 0; turn < 200 && !HasFailure(); ++turn) {
        const auto rank = random.between(1, 8);
        core::Dimensions state(random.between(1, 8), 1);
        state.back() = 6;
        const Descriptor descriptor =
            generator(random_input(random, DataType::uint32, state),
                      random_output(random, DataType::uint32, random_sizes(random, rank, 5000)),
                      random_output(random, DataType::uint32, state));
        std::vector<core::Tensor> inputs;
        inputs.push_back(random_bits(random, *descriptor.tensor("InputStateTensor")));
        if (turn % 2 == 0) {
            // A counter that overflows to its next word.
            const auto words = inputs[0].as<std::uint32_t>();
            std::fill(words.begin(), words.begin() + 1, 0xffffffffU - random.between(0, 2));
        }
        tests::expect_like_reference(engine(), descriptor, inputs);
    }
}

TEST_F(RandomGeneratorOnD3d12, ManyGroups) {
    Random random(2);
    const auto state = tensor(DataType::uint32, {6});
    // 611 thread groups, the last of which is incomplete.
    const Descriptor descriptor = generator(state, tensor(DataType::uint32, {2'500'003}), state);
    std::vector<core::Tensor> inputs;
    inputs.push_back(random_bits(random, state));
    tests::expect_like_reference(engine(), descriptor, inputs);
}

}  // namespace
}  // namespace dmlconform::tests::random_generator_test
