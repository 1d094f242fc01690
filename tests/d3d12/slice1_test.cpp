// Tests of SLICE1 on the D3D12 engine: every type, rank, layout and direction.
#include <array>

#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::slice1_test {
namespace {

using core::DataType;
using operators::Descriptor;

constexpr std::array types{DataType::float64, DataType::float32, DataType::float16, DataType::int64,
                           DataType::int32,   DataType::int16,   DataType::int8,    DataType::uint64,
                           DataType::uint32,  DataType::uint16,  DataType::uint8};

using Slice1OnD3d12 = D3d12Test;

/// A random window of an input, and an output that takes all or some of its elements.
Descriptor random_slice(Random& random, DataType type) {
    const auto rank = random.between(1, 8);
    const core::Dimensions sizes = random_sizes(random, rank, 3000);
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> window;
    std::vector<std::int32_t> strides;
    core::Dimensions output;
    for (const std::uint32_t size : sizes) {
        offsets.push_back(random.chance(2) ? 0 : random.between(0, size - 1));
        window.push_back(random.chance(2) ? size - offsets.back() : random.between(1, size - offsets.back()));
        const auto step = static_cast<std::int32_t>(random.chance(2) ? 1 : random.between(1, 4));
        strides.push_back(random.chance(3) ? -step : step);
        const std::uint32_t most = 1 + (window.back() - 1) / static_cast<std::uint32_t>(step);
        output.push_back(random.chance(4) ? random.between(1, most) : most);
    }
    return describe("SLICE1", {{"InputTensor", random_input(random, type, sizes)},
                               {"OutputTensor", random_output(random, type, output)},
                               {"DimensionCount", rank},
                               {"InputWindowOffsets", offsets},
                               {"InputWindowSizes", window},
                               {"InputWindowStrides", strides}});
}

void expect_like_reference(Engine& engine, Random& random, const Descriptor& descriptor) {
    std::vector<core::Tensor> inputs;
    inputs.push_back(random_bits(random, *descriptor.tensor("InputTensor")));
    tests::expect_like_reference(engine, descriptor, inputs);
}

TEST_F(Slice1OnD3d12, RandomWindowsOfEveryType) {
    Random random(1);
    for (int turn = 0; turn < 600 && !HasFailure(); ++turn) {
        expect_like_reference(engine(), random,
                              random_slice(random, types[static_cast<std::size_t>(turn) % types.size()]));
    }
}

TEST_F(Slice1OnD3d12, WalksBackwardsAndInSteps) {
    const Descriptor slice = describe("SLICE1", {{"InputTensor", tensor(DataType::float32, {1, 1, 4, 4})},
                                                 {"OutputTensor", tensor(DataType::float32, {1, 1, 2, 2})},
                                                 {"InputWindowOffsets", {0, 0, 0, 1}},
                                                 {"InputWindowSizes", {1, 1, 4, 3}},
                                                 {"InputWindowStrides", {1, 1, -2, 2}}});
    std::vector<core::Tensor> inputs;
    inputs.push_back(
        tensor_of<float>(*slice.tensor("InputTensor"), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
    EXPECT_EQ(values_of<float>(run_on(engine(), slice, inputs)[0]), (std::vector<float>{14, 16, 6, 8}));
}

/// Copies a segment of a vector, which consists of whole 32-bit words, of whole 16 bytes, or neither.
TEST_F(Slice1OnD3d12, ContiguousSegmentsOfAnyAlignment) {
    Random random(2);
    for (const DataType type : types) {
        for (const std::uint32_t offset : {0u, 1u, 2u, 3u, 4u, 8u, 16u}) {
            for (const std::uint32_t size : {1u, 2u, 3u, 4u, 5u, 15u, 16u, 17u, 64u, 1000u, 4096u}) {
                const std::vector<std::uint32_t> window{size};
                expect_like_reference(engine(), random,
                                      describe("SLICE1", {{"InputTensor", tensor(type, {offset + size + 3})},
                                                          {"OutputTensor", tensor(type, {size})},
                                                          {"InputWindowOffsets", {offset}},
                                                          {"InputWindowSizes", window},
                                                          {"InputWindowStrides", {1}}}));
            }
        }
    }
}

TEST_F(Slice1OnD3d12, MoreGroupsThanADispatchHasInARow) {
    Random random(3);
    // One 32-bit unit per thread: 9,437,184 threads in 36,864 groups.
    expect_like_reference(engine(), random,
                          describe("SLICE1", {{"InputTensor", tensor(DataType::float32, {3072, 3073})},
                                              {"OutputTensor", tensor(DataType::float32, {3072, 3072})},
                                              {"InputWindowOffsets", {0, 1}},
                                              {"InputWindowSizes", {3072, 3072}},
                                              {"InputWindowStrides", {1, 1}}}));
}

TEST_F(Slice1OnD3d12, StrideBeyondTheWindow) {
    Random random(4);
    expect_like_reference(engine(), random,
                          describe("SLICE1", {{"InputTensor", tensor(DataType::int16, {7, 5})},
                                              {"OutputTensor", tensor(DataType::int16, {1, 5})},
                                              {"InputWindowOffsets", {2, 0}},
                                              {"InputWindowSizes", {4, 5}},
                                              {"InputWindowStrides", {-2147483648LL, -1}}}));
}

}  // namespace
}  // namespace dmlconform::tests::slice1_test
