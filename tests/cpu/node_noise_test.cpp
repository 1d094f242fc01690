// Rounding errors that the runs of a graph add to a node's output.
#include "engine/cpu/node_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "engine/cpu/graph_reference.h"
#include "tests/packed_tensors.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {
namespace node_noise_test {
namespace {

using core::Tensor;
using Random = std::mt19937_64;
using Floats = std::vector<float>;
TEST(NodeNoise, TakesNeighboursInFloat16InTurns) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    core::ElementSlack slack;
    // The neighbours of 1 are 1 - 2^-11 and 1 + 2^-10. The ranges of the last two elements do not reach them.
    slack.below = {0x1p-11, 0, 0x1p-12, 0};
    slack.above = {0x1p-10, 0x1p-10, 0x1p-12, 0};
    slack.sigma.assign(4, 0x1p-20);
    std::map<std::uint16_t, int> seen;
    std::map<std::uint16_t, int> upwards;
    for (std::size_t run = 0; run < 16; ++run) {
        Tensor values = tensor_of<core::Float16>(tests::tensor(core::DataType::float16, {4}),
                                                 std::vector<core::Float16>(4, core::Float16(1)));
        cpu::NodeNoise(tolerance, slack, 1).add_to(values, run);
        ++seen[values.as<core::Float16>()[0].bits];
        ++upwards[values.as<core::Float16>()[1].bits];
        EXPECT_EQ(values.as<core::Float16>()[2].bits, 0x3c00);
        EXPECT_EQ(values.as<core::Float16>()[3].bits, 0x3c00);
    }
    EXPECT_EQ(seen, (std::map<std::uint16_t, int>{{0x3bff, 3}, {0x3c00, 11}, {0x3c01, 2}}));
    EXPECT_EQ(upwards, (std::map<std::uint16_t, int>{{0x3c00, 14}, {0x3c01, 2}}));
}

/// Sums in FP32 are rounded to nearest, so that noise below half a unit would be lost.
TEST(NodeNoise, TakesNeighboursInFp32InTurns) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    struct Row {
        const char* what;
        float value;
        double below;
        double above;
        double sigma;
        std::map<float, int> seen;
    };
    const float down = std::nextafter(1.0F, 0.0F);
    const float up = std::nextafter(1.0F, 2.0F);
    const float greatest = std::numeric_limits<float>::max();
    const Row rows[] = {
        {"both neighbours", 1, 0x1p-23, 0x1p-23, 0x1p-25, {{down, 1}, {1, 14}, {up, 1}}},
        {"both, if negative", -1, 0x1p-23, 0x1p-23, 0x1p-25, {{-up, 1}, {-1, 14}, {-down, 1}}},
        {"only the greater one", 1, 0, 0x1p-23, 0x1p-25, {{1, 14}, {up, 2}}},
        {"only the smaller one", 1, 0x1p-24, 0x1p-24, 0x1p-25, {{down, 2}, {1, 14}}},
        {"none in the range", 1, 0x1p-25, 0x1p-24, 0x1p-26, {{1, 16}}},
        {"nothing is beyond the greatest", greatest, HUGE_VAL, HUGE_VAL, 1e29, {{greatest, 16}}},
        {"infinity stays", infinity, HUGE_VAL, HUGE_VAL, 1, {{infinity, 16}}},
    };
    for (const Row& row : rows) {
        core::Tolerance tolerance;
        tolerance.element_slack = true;
        const core::ElementSlack slack{.below = {row.below}, .above = {row.above}, .sigma = {row.sigma}};
        std::map<float, int> seen;
        for (std::size_t run = 0; run < 16; ++run) {
            Tensor values = tensor_of<float>(real({1}), {row.value});
            cpu::NodeNoise(tolerance, slack, 1).add_to(values, run);
            ++seen[values.as<float>()[0]];
        }
        EXPECT_EQ(seen, row.seen) << row.what;
    }
}

/// Two of the runs take neighbours in any case; the others add noise that may be rounded back.
TEST(NodeNoise, ReachesNeighboursWithNoiseBelowAUnit) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    constexpr std::size_t count = 1000;
    core::ElementSlack slack;
    slack.below.assign(count, 0x1p-22);
    slack.above.assign(count, 0x1p-22);
    slack.sigma.assign(count, 0x1p-24);
    std::vector<int> up(count);
    std::vector<int> down(count);
    for (std::size_t run = 0; run < 16; ++run) {
        Tensor values = tensor_of<float>(real({count}), Floats(count, 1.5F));
        cpu::NodeNoise(tolerance, slack, 1).add_to(values, run);
        for (std::size_t i = 0; i < count; ++i) {
            up[i] += values.as<float>()[i] > 1.5F ? 1 : 0;
            down[i] += values.as<float>()[i] < 1.5F ? 1 : 0;
        }
    }
    EXPECT_GE(std::ranges::min(up), 1);
    EXPECT_GE(std::ranges::min(down), 1);
    EXPECT_GE(std::ranges::max(up), 4);
}

TEST(NodeNoise, DoesNotStepBeyondTheEndOfIntegers) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    core::ElementSlack slack;
    slack.below = {1, 1, 0};
    slack.above = {1, 1, 0};
    std::map<int, int> highest;
    std::map<int, int> lowest;
    for (std::size_t run = 0; run < 6; ++run) {
        Tensor values = tensor_of<std::uint8_t>(tests::bytes({3}), {255, 0, 7});
        cpu::NodeNoise(tolerance, slack, 1).add_to(values, run);
        ++highest[values.as<std::uint8_t>()[0]];
        ++lowest[values.as<std::uint8_t>()[1]];
        EXPECT_EQ(values.as<std::uint8_t>()[2], 7);
    }
    EXPECT_EQ(highest, (std::map<int, int>{{254, 2}, {255, 4}}));
    EXPECT_EQ(lowest, (std::map<int, int>{{0, 4}, {1, 2}}));
}

TEST(NodeNoise, HasTheSizeOfSigmaAndStaysInTheRange) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    core::ElementSlack slack;
    constexpr std::size_t count = 10'000;
    slack.below.assign(count, 0.02);
    slack.above.assign(count, 0.015);
    slack.sigma.assign(count, 0.01);
    Tensor tensor = tensor_of<float>(real({count}), Floats(count, 1));
    cpu::NodeNoise(tolerance, slack, 1).add_to(tensor, 3);
    double sum = 0;
    for (const float x : tensor.as<float>()) {
        ASSERT_GE(x, 0.98F);
        ASSERT_LE(x, 1.015F);
        sum += (double{x} - 1) * (double{x} - 1);
    }
    EXPECT_NEAR(std::sqrt(sum / count), 0.0095, 0.001);
}

/// Packed FP32 elements are moved eight at a time, and those with gaps one by one, by what is the definition.
TEST(NodeNoise, IsTheSameForEightElementsAtATime) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr std::uint32_t count = 1029;  // not a multiple of 8
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    core::ElementSlack slack;
    Random random(7);
    std::uniform_real_distribution<double> bound(-0.01, 0.1);
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(bound(random));
        // Down to a fraction of a unit of these values.
        const double size = std::ldexp(1.0, -static_cast<int>(i % 31));
        slack.below.push_back(i % 17 == 3 ? HUGE_VAL : size * bound(random));
        slack.above.push_back(i % 19 == 4 ? HUGE_VAL : size * bound(random));
        // First eights whose standard deviations are all known, then others.
        slack.sigma.push_back(i < 256 ? std::fabs(size * bound(random)) : i % 3 == 0 ? 0 : size * bound(random));
    }
    values[5] = NAN;
    values[70] = infinity;
    values[71] = -infinity;
    values[72] = 0;
    values[73] = std::numeric_limits<float>::max();
    values[74] = std::numeric_limits<float>::denorm_min();
    slack.meaningful = count - 2;
    Tensor packed = tensor_of<float>(real({count}), values);
    Tensor with_gaps(tests::tensor(core::DataType::float32, {count}, {2}));
    for (std::size_t i = 0; i < count; ++i) {
        with_gaps.as<float>()[2 * i] = values[i];
    }
    const cpu::NodeNoise noise(tolerance, slack, 1);
    for (std::size_t run = 0; run < 16; ++run) {
        noise.add_to(packed, run);
        noise.add_to(with_gaps, run);
        for (std::size_t i = 0; i < count; ++i) {
            const float expected = with_gaps.as<float>()[2 * i];
            ASSERT_EQ(std::memcmp(&packed.as<float>()[i], &expected, sizeof expected), 0) << i << " in run " << run;
        }
    }
    EXPECT_NE(packed.as<float>()[0], values[0]) << "there was noise";
}

/// All runs at once get what each of them gets alone.
TEST(NodeNoise, IsTheSameForAllRunsAtOnce) {
    constexpr std::uint32_t count = 5003;  // several blocks, and not a multiple of 8
    constexpr std::size_t runs = cpu::monte_carlo_runs;
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    core::ElementSlack slack;
    Random random(8);
    std::uniform_real_distribution<double> bound(-0.01, 0.1);
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(bound(random));
        slack.below.push_back(i % 401 == 3 ? HUGE_VAL : bound(random));
        slack.above.push_back(bound(random));
        const double size = std::ldexp(1.0, -static_cast<int>(i % 31));
        slack.sigma.push_back(i < 3000 ? std::fabs(size * bound(random)) : i % 3 == 0 ? 0 : bound(random));
    }
    slack.meaningful = count - 2;
    const cpu::NodeNoise noise(tolerance, slack, 3);
    std::vector<Tensor> together;
    std::vector<Tensor*> pointers;
    together.reserve(runs);
    for (std::size_t run = 0; run < runs; ++run) {
        // The runs' elements differ, as they do behind other nodes.
        Floats of_run = values;
        of_run[run] += 1;
        pointers.push_back(&together.emplace_back(tensor_of<float>(real({count}), of_run)));
    }
    noise.add_to_all(pointers);
    for (std::size_t run = 0; run < runs; ++run) {
        Floats of_run = values;
        of_run[run] += 1;
        Tensor alone = tensor_of<float>(real({count}), of_run);
        noise.add_to(alone, run);
        EXPECT_TRUE(std::ranges::equal(alone.buffer.bytes(), together[run].buffer.bytes())) << "run " << run;
    }
}

TEST(NodeNoise, TakesAlternativesInTurns) {
    core::Tolerance tolerance;
    tolerance.exact = true;
    tolerance.alternatives = true;
    core::ElementSlack slack;
    slack.alternatives = {{2, 5}, {2, 9}};
    std::map<std::uint32_t, int> seen;
    for (std::size_t run = 0; run < 16; ++run) {
        Tensor values = tensor_of<std::uint32_t>(tests::tensor(core::DataType::uint32, {4}), {1, 2, 5, 4});
        const cpu::NodeNoise noise(tolerance, slack, 1);
        EXPECT_FALSE(noise.is_silent());
        noise.add_to(values, run);
        ++seen[values.as<std::uint32_t>()[2]];
        EXPECT_EQ(values.as<std::uint32_t>()[1], 2U);
    }
    EXPECT_EQ(seen, (std::map<std::uint32_t, int>{{5, 8}, {9, 8}}));
}

}  // namespace
}  // namespace node_noise_test
}  // namespace dmlconform::tests
