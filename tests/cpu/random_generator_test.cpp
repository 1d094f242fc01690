// Tests of the kernels of RANDOM_GENERATOR: known answers of the generator, and long outputs against short ones.
#include <gtest/gtest.h>

#include "engine/cpu/reference.h"
#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::random_generator_test {
namespace {

using Words = std::vector<std::uint32_t>;

/// The output, and the new state.
std::pair<Words, Words> generate(const Words& state, std::uint32_t count) {
    const auto words = [](std::uint32_t size) { return tensor(core::DataType::uint32, {1, 1, 1, size}); };
    const auto descriptor =
        describe("RANDOM_GENERATOR",
                 {{"InputStateTensor", words(6)}, {"OutputTensor", words(count)}, {"OutputStateTensor", words(6)}});
    const core::Tensor input = tensor_of<std::uint32_t>(words(6), state);
    const std::vector<const core::Tensor*> inputs{&input};
    const cpu::Reference reference = cpu::compute_reference(descriptor, inputs);
    return {values_of<std::uint32_t>(reference.outputs[0]), values_of<std::uint32_t>(reference.outputs[1])};
}

/// From Random123's known answers (kat_vectors): philox4x32 with 10 rounds.
TEST(RandomGenerator, KnownAnswers) {
    const struct {
        Words state;
        Words answer;
    } vectors[] = {
        {{0, 0, 0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const auto& [state, answer] : vectors) {
        EXPECT_EQ(generate(state, 4).first, answer);
    }
}

TEST(RandomGenerator, TheStateThatIsLeftGoesOnWhereTheOutputEnds) {
    const Words start{0xfffffff0, 0xffffffff, 0xffffffff, 9, 10, 11};
    const auto [all, last] = generate(start, 1 << 17);
    Words joined;
    Words state = start;
    for (const std::uint32_t count : {4U, 60U, 40'000U, (1U << 17) - 40'064U}) {
        auto [part, left] = generate(state, count);
        joined.insert(joined.end(), part.begin(), part.end());
        state = left;
    }
    EXPECT_EQ(joined, all);
    EXPECT_EQ(state, last);
    EXPECT_EQ(last, (Words{(1U << 15) - 16, 0, 0, 10, 10, 11}));
}

}  // namespace
}  // namespace dmlconform::tests::random_generator_test
