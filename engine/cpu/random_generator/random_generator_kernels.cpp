// RANDOM_GENERATOR: Philox 4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
//
// The state is a 128-bit counter, least significant word first, and a 64-bit key. Each value of the counter yields four
// elements. The next counter follows the last value that was used. Equals definitions/random_generator.cpp.
#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/cpu/elements.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::random_generator_kernels {
namespace {

constexpr int rounds = 10;
constexpr std::size_t counter_words = 4;
constexpr std::size_t key_words = 2;

/// Half of the cipher's block: L and R in the paper.
struct Half {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
};

struct State {
    std::array<std::uint32_t, counter_words> counter{};
    std::array<std::uint32_t, key_words> key{};

    explicit State(const core::Tensor& tensor) {
        const auto words = elements<std::uint32_t>(tensor);
        std::copy_n(words.data(), counter_words, counter.begin());
        std::copy_n(words.data() + counter_words, key_words, key.begin());
    }

    /// The counter advanced by `steps`, modulo 2^128.
    [[nodiscard]] std::array<std::uint32_t, counter_words> after(std::uint64_t steps) const {
        std::array<std::uint32_t, counter_words> result = counter;
        for (std::uint32_t& word : result) {
            // From the second word on, the remaining carry is below 2^32, so the sum does not overflow.
            const std::uint64_t sum = word + (steps & 0xffffffff);
            word = static_cast<std::uint32_t>(sum);
            steps = (steps >> 32) + (sum >> 32);
        }
        return result;
    }
};

/// The paper's S-box. Each half's L is multiplied. The low word of the product becomes the new L of the other half; the
/// high word, combined with R and the key, becomes the other half's new R. Before the rounds, R precedes L in memory.
std::array<std::uint32_t, counter_words> block_of(const State& state, std::uint64_t number) {
    const auto counter = state.after(number);
    std::array<Half, 2> halves{{{counter[1], counter[0]}, {counter[3], counter[2]}}};
    std::array<std::uint32_t, key_words> key = state.key;
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t a = std::uint64_t{halves[0].right} * 0xd2511f53;
        const std::uint64_t b = std::uint64_t{halves[1].right} * 0xcd9e8d57;
        halves = {{{static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32) ^ halves[0].left ^ key[0]},
                   {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32) ^ halves[1].left ^ key[1]}}};
        // Weyl sequences of the golden ratio and the square root of 3.
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
    return {halves[0].right, halves[0].left, halves[1].right, halves[1].left};
}

void fill(const State& state, core::Tensor& output) {
    const movement::Rows rows(output.desc);
    auto* const written = output.as<std::uint32_t>().data();
    parallel_for(rows.count(), 8 * rows.length(), [&](std::int64_t first, std::int64_t last) {
        std::array<std::uint32_t, counter_words> block{};
        std::int64_t known = -1;
        rows.for_each(first, last, [&](movement::Coordinates, std::int64_t address, std::int64_t number) {
            const std::int64_t wanted = number / std::int64_t{counter_words};
            if (wanted != known) {
                block = block_of(state, static_cast<std::uint64_t>(wanted));
                known = wanted;
            }
            written[address] = block[static_cast<std::size_t>(number) % counter_words];
        });
    });
}

void put_state(const State& state, std::uint64_t steps, core::Tensor& output) {
    const auto counter = state.after(steps);
    const movement::Rows rows(output.desc);
    auto* const written = output.as<std::uint32_t>().data();
    rows.for_each(0, rows.count(), [&](movement::Coordinates, std::int64_t address, std::int64_t number) {
        const auto i = static_cast<std::size_t>(number);
        written[address] = i < counter_words ? counter[i] : state.key[i - counter_words];
    });
}

void compute(const KernelArguments& arguments) {
    const State state(*arguments.inputs[0]);
    core::Tensor& output = *arguments.outputs[0];
    fill(state, output);
    core::Tensor* const output_state = arguments.outputs[1];
    if (output_state != nullptr && !output_state->desc.sizes.empty()) {
        const std::uint64_t count = *core::element_count(output.desc.sizes);
        put_state(state, (count + counter_words - 1) / counter_words, *output_state);
    }
}

}  // namespace

Kernels kernels() {
    return {{.name = "RANDOM_GENERATOR", .compute = compute, .tolerance = exact_tolerance}};
}

}  // namespace dmlconform::cpu::random_generator_kernels
