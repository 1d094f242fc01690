// RANDOM_GENERATOR.
#include "engine/cpu/definitions/call.h"

namespace dmlconform::cpu::definitions::random_generator_definitions {
namespace {

using Words = std::array<std::uint32_t, 4>;

/// A counter of 128 bits, its least significant word first, plus a number.
Words advanced(Words counter, std::uint64_t by) {
    for (std::uint32_t& word : counter) {
        const std::uint64_t sum = std::uint64_t{word} + (by & 0xffffffffU);
        word = static_cast<std::uint32_t>(sum);
        by = (by >> 32U) + (sum >> 32U);
    }
    return counter;
}

/// Philox 4x32-10, as Salmon et al. write it: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 4.3.
Words philox(Words x, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{x[0]} * 0xD2511F53U;
        const std::uint64_t product1 = std::uint64_t{x[2]} * 0xCD9E8D57U;
        x = {static_cast<std::uint32_t>(product1 >> 32U) ^ x[1] ^ key0, static_cast<std::uint32_t>(product1),
             static_cast<std::uint32_t>(product0 >> 32U) ^ x[3] ^ key1, static_cast<std::uint32_t>(product0)};
        key0 += 0x9E3779B9U;
        key1 += 0xBB67AE85U;
    }
    return x;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_random_generator_operator_desc
// The state is a counter of four words and a key of two. Each value of the counter gives four elements.
constexpr auto random_generator = []<class Real>(Call& call) {
    const auto state = call.input<Unsigned>("InputStateTensor");
    const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(state.elements[i].value); };
    const Words counter{word(0), word(1), word(2), word(3)};
    auto& output = call.output<Unsigned>("OutputTensor");
    for (std::size_t i = 0; i < output.elements.size(); ++i) {
        output.elements[i] = philox(advanced(counter, i / 4), word(4), word(5))[i % 4];
    }
    if (call.has("OutputStateTensor")) {
        auto& next = call.output<Unsigned>("OutputStateTensor");
        next = state;
        const Words used = advanced(counter, (output.elements.size() + 3) / 4);
        std::copy(used.begin(), used.end(), next.elements.begin());
    }
};

}  // namespace

Definitions definitions() {
    return {define("RANDOM_GENERATOR", random_generator)};
}

}  // namespace dmlconform::cpu::definitions::random_generator_definitions
