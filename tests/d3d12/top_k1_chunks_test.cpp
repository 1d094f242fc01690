// Tests of TOP_K1 for sequences so long that only some of their chunks are searched
// (shaders/top_k1/top_k1_chunks.hlsl): ties, types, layouts, and the choice of this algorithm.
#include <algorithm>
#include <array>
#include <limits>

#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/top_k1.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::top_k1_chunks_test {
namespace {

using core::DataType;
using operators::Descriptor;

using ChunksOnD3d12 = D3d12Test;

/// The last chunk is shorter.
constexpr std::uint32_t very_long = (1u << 22) + 321;

std::string_view first_shader(const Descriptor& descriptor) {
    return d3d12::find_binding("TOP_K1")->plan(descriptor).dispatches.front().shader.shader;
}

void expect_right_by_chunks(Engine& engine, const Descriptor& descriptor, core::Tensor input) {
    EXPECT_EQ(first_shader(descriptor), "top_k1_chunks") << text_of(descriptor);
    std::vector<core::Tensor> inputs;
    inputs.push_back(std::move(input));
    expect_like_reference(engine, descriptor, inputs);
}

struct Pattern {
    const char* name;
    int (*value)(std::uint32_t position);
};

/// Patterns for K = 64. Chunks have 1,024 elements, or a small multiple.
constexpr std::array patterns{
    Pattern{"all are equal", [](std::uint32_t) { return 3; }},
    Pattern{"every fifth is larger", [](std::uint32_t i) { return i % 5 == 4 ? 1 : 0; }},
    Pattern{"one chunk has all winners",
            [](std::uint32_t i) { return i / 1024 == 1000 ? 20 + static_cast<int>(i % 90) : 9; }},
    Pattern{"the last chunk has some winners", [](std::uint32_t i) { return i + 40 >= very_long ? 1 : 0; }},
    Pattern{"the last chunk has all winners", [](std::uint32_t i) { return i + 300 >= very_long ? 1 : 0; }},
    Pattern{"chunks with the largest have ties, too, and come later",
            [](std::uint32_t i) {
                const bool has_largest = i / 1024 >= 100 && i / 1024 < 140;
                return has_largest && i % 1024 == 700 ? 9 : i / 1024 >= 50 && i % 200 == 7 ? 3 : 0;
            }},
    Pattern{"first elements of chunks and last ones",
            [](std::uint32_t i) {
                return i / 1024 % 49 == 0 && (i % 1024 == 0 || i % 1024 == 1023) ? static_cast<int>(i >> 16) : 0;
            }},
    Pattern{"rises", [](std::uint32_t i) { return static_cast<int>(i >> 16); }},
    Pattern{"falls", [](std::uint32_t i) { return -static_cast<int>(i >> 16); }}};

TEST_F(ChunksOnD3d12, Ties) {
    std::uint32_t direction = 0;
    for (const Pattern& pattern : patterns) {
        SCOPED_TRACE(pattern.name);
        direction = 1 - direction;
        const Descriptor descriptor = top_k1(DataType::int8, {very_long}, 0, 64, direction);
        core::Tensor input = blank_tensor(*descriptor.tensor("InputTensor"));
        const auto elements = input.as<std::int8_t>();
        for (std::uint32_t i = 0; i < very_long; ++i) {
            elements[i] = static_cast<std::int8_t>(direction == 1 ? pattern.value(i) : -pattern.value(i));
        }
        expect_right_by_chunks(engine(), descriptor, std::move(input));
    }
}

/// Random bits of all supported types, several interleaved sequences, and elements that are not adjacent. The longest
/// sequences have larger chunks, or more candidate chunks than fit a tile.
TEST_F(ChunksOnD3d12, TypesAndLayouts) {
    const std::array descriptors{top_k1(DataType::float32, {very_long}, 0, 128, 0),
                                 top_k1(DataType::float16, {1, very_long}, 1, 77),
                                 top_k1(DataType::int32, {very_long + 1000, 1}, 0, 64),
                                 top_k1(DataType::uint16, {1 << 23}, 0, 1, 0),
                                 top_k1(DataType::uint8, {1 << 24}, 0, 10),
                                 top_k1(DataType::int8, {1 << 24}, 0, 128),
                                 top_k1(DataType::uint32, {3, very_long / 2}, 1, 33, 0),
                                 top_k1(DataType::int16, {2, very_long / 3, 3}, 1, 20),
                                 with(top_k1(DataType::float32, {2, very_long / 2 + 999}, 1, 50),
                                      {{"InputTensor", tensor(DataType::float32, {2, very_long / 2 + 999}, {1, 2})},
                                       {"OutputIndexTensor", tensor(DataType::uint64, {2, 50}, {1, 3})}})};
    Random random(10);
    for (const Descriptor& descriptor : descriptors) {
        expect_right_by_chunks(engine(), descriptor, random_bits(random, *descriptor.tensor("InputTensor")));
    }
}

TEST_F(ChunksOnD3d12, NaNs) {
    const Descriptor descriptor = top_k1(DataType::float32, {very_long}, 0, 64);
    for (const std::uint32_t numbers : {0u, 1u, 63u, 64u}) {
        core::Tensor input(*descriptor.tensor("InputTensor"));
        std::ranges::fill(input.as<float>(), std::numeric_limits<float>::quiet_NaN());
        for (std::uint32_t i = 0; i < numbers; ++i) {
            input.as<float>()[very_long - 1 - i * i * 1000] = static_cast<float>(i % 3);
        }
        expect_right_by_chunks(engine(), descriptor, std::move(input));
    }
}

/// Sequences for which an additional pass would cost more time than it saves, most chunks would be searched, or no
/// shader finds the winners of chunks.
TEST_F(ChunksOnD3d12, OthersHaveNone) {
    for (const Descriptor& descriptor :
         {top_k1(DataType::float32, {1 << 20}, 0, 64), top_k1(DataType::float32, {4096, 1024}, 1, 10),
          top_k1(DataType::float32, {1 << 24}, 0, 129), top_k1(DataType::int64, {1 << 24}, 0, 64)}) {
        EXPECT_NE(first_shader(descriptor), "top_k1_chunks") << text_of(descriptor);
    }
}

}  // namespace
}  // namespace dmlconform::tests::top_k1_chunks_test
