// Tests of TOP_K1 on the D3D12 engine: every type, layout and direction, ties and special values, and each sorting
// algorithm.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/top_k1.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::top_k1_test {
namespace {

using core::DataType;
using operators::Descriptor;

constexpr std::array types{DataType::float32, DataType::float16, DataType::int64,  DataType::int32,  DataType::int16,
                           DataType::int8,    DataType::uint64,  DataType::uint32, DataType::uint16, DataType::uint8};

using TopK1OnD3d12 = D3d12Test;

Descriptor random_top_k(Random& random, DataType type, const core::Dimensions& sizes) {
    const std::uint32_t axis = random.between(0, static_cast<std::uint32_t>(sizes.size()) - 1);
    const std::uint32_t k = random.chance(4) ? sizes[axis] : random.between(1, sizes[axis]);
    core::Dimensions output = sizes;
    output[axis] = k;
    return describe("TOP_K1", {{"InputTensor", random_input(random, type, sizes)},
                               {"OutputValueTensor", random_output(random, type, output)},
                               {"OutputIndexTensor",
                                random_output(random, random.chance(2) ? DataType::uint32 : DataType::uint64, output)},
                               {"Axis", axis},
                               {"K", k},
                               {"AxisDirection", random.between(0, 1)}});
}

void expect_like_reference(Engine& engine, const Descriptor& descriptor, core::Tensor input) {
    std::vector<core::Tensor> inputs;
    inputs.push_back(std::move(input));
    tests::expect_like_reference(engine, descriptor, inputs);
}

/// Only a few different values, so that there are ties.
core::Tensor tied(Random& random, const core::TensorDesc& desc) {
    return drawn(desc, [&] { return static_cast<double>(random.between(0, 7)); });
}

TEST_F(TopK1OnD3d12, RandomBitsOfEveryType) {
    Random random(1);
    for (int turn = 0; turn < 400 && !HasFailure(); ++turn) {
        const DataType type = types[static_cast<std::size_t>(turn) % types.size()];
        const Descriptor descriptor = random_top_k(random, type, random_sizes(random, random.between(1, 8), 2000));
        expect_like_reference(engine(), descriptor, random_bits(random, *descriptor.tensor("InputTensor")));
    }
}

TEST_F(TopK1OnD3d12, TiesGoToTheLowerIndex) {
    Random random(2);
    for (int turn = 0; turn < 200 && !HasFailure(); ++turn) {
        const DataType type = types[static_cast<std::size_t>(turn) % types.size()];
        const Descriptor descriptor = random_top_k(random, type, random_sizes(random, random.between(1, 8), 2000));
        expect_like_reference(engine(), descriptor, tied(random, *descriptor.tensor("InputTensor")));
    }
}

TEST_F(TopK1OnD3d12, SpecialFloatingPointNumbers) {
    using Limits = std::numeric_limits<float>;
    const float nan = Limits::quiet_NaN();
    const float tiny = Limits::denorm_min();
    const std::vector<float> numbers{0.0f, -0.0f, nan,  -nan,  Limits::infinity(), -Limits::infinity(), tiny, -tiny,
                                     1.0f, -1.0f, 0.0f, -0.0f, Limits::max(),      Limits::lowest(),    nan,  1.0f};
    for (const std::uint32_t direction : {0u, 1u}) {
        const Descriptor descriptor = top_k1(DataType::float32, {16}, 0, 16, direction);
        expect_like_reference(engine(), descriptor, tensor_of<float>(*descriptor.tensor("InputTensor"), numbers));
        const Descriptor halves = top_k1(DataType::float16, {16}, 0, 16, direction);
        std::vector<core::Float16> half_numbers;
        for (const float number : numbers) {
            half_numbers.emplace_back(number == tiny || number == -tiny ? number * 0x1p125 : number);
        }
        expect_like_reference(engine(), halves, tensor_of<core::Float16>(*halves.tensor("InputTensor"), half_numbers));
    }
}

struct Long {
    std::uint32_t sequences;
    std::uint32_t length;
    std::uint32_t k;
};

/// Sizes around those at which the number or kind of passes changes.
constexpr std::array long_ones{
    Long{3, 2047, 5},       Long{3, 2048, 2048},  Long{3, 2049, 1},      Long{2, 4096, 1024},  Long{2, 4097, 1025},
    Long{3, 5000, 2047},    Long{2, 5000, 2048},  Long{2, 5000, 2049},   Long{2, 6200, 6200},  Long{1, 30000, 10},
    Long{1, 30000, 1000},   Long{1, 30000, 7777}, Long{1, 30000, 30000}, Long{1, 600000, 300}, Long{2, 2050, 2050},
    Long{1, 200000, 70001}, Long{5, 10241, 4096}, Long{1, 65536, 32768}, Long{300, 2300, 1},   Long{1, 300000, 64},
    Long{1, 300000, 128},   Long{1, 70000, 129},  Long{513, 4100, 64},   Long{260, 8193, 33},  Long{512, 5000, 65},
    Long{3, 1025, 700},     Long{3, 4095, 4095},  Long{2, 4096, 4096},   Long{2, 4097, 4097},  Long{1, 8193, 1000}};

TEST_F(TopK1OnD3d12, LongSequences) {
    Random random(3);
    std::size_t turn = 0;
    for (const Long& item : long_ones) {
        for (const bool ties : {false, true}) {
            const DataType type = types[turn++ % types.size()];
            const Descriptor descriptor = top_k1(type, {item.sequences, item.length}, 1, item.k, ties ? 1 : 0);
            const core::TensorDesc& input = *descriptor.tensor("InputTensor");
            expect_like_reference(engine(), descriptor, ties ? tied(random, input) : random_bits(random, input));
        }
    }
}

TEST_F(TopK1OnD3d12, LongSequencesAlongAnOuterAxis) {
    Random random(4);
    for (const DataType type : types) {
        const Descriptor descriptor = top_k1(type, {2, 5000, 3}, 1, 2100, 1);
        expect_like_reference(engine(), descriptor, random_bits(random, *descriptor.tensor("InputTensor")));
    }
}

/// A small K: a thread group selects candidates before sorting them. Also if a few threads hold all winners, or a tile
/// has fewer than K elements.
TEST_F(TopK1OnD3d12, FewOfMany) {
    Random random(7);
    std::size_t turn = 0;
    for (const std::uint32_t length : {257u, 300u, 512u, 513u, 1000u, 1024u, 2048u, 2051u, 4099u, 40000u}) {
        for (const std::uint32_t k : {1u, 2u, 7u, 8u, 9u, 16u, 17u, 31u, 32u, 33u}) {
            const DataType type = types[turn % types.size()];
            const Descriptor descriptor = top_k1(type, {3, length}, 1, k, turn % 2);
            const core::TensorDesc& input = *descriptor.tensor("InputTensor");
            expect_like_reference(engine(), descriptor, random_bits(random, input));
            double next = 0;
            expect_like_reference(engine(), descriptor, drawn(input, [&] { return std::fmod(next++, 32.0); }));
            expect_like_reference(engine(), descriptor,
                                  drawn(input, [&] { return std::fmod(next++ / 100, 120.0) < 1 ? 5.0 : 3.0; }));
            ++turn;
        }
    }
}

/// The values of a sequence by index.
struct Pattern {
    const char* name;
    double (*value)(std::uint32_t position, std::uint32_t length, std::uint32_t k);
};

double one_if(bool is_large) {
    return is_large ? 1.0 : 0.0;
}

/// More, exactly or one fewer than K keys are equal; the largest elements belong to one thread, or lie at the ends of
/// tiles.
constexpr std::array patterns{
    Pattern{"all are equal", [](std::uint32_t, std::uint32_t, std::uint32_t) { return 3.0; }},
    Pattern{"the first k + 1 are equal",
            [](std::uint32_t i, std::uint32_t, std::uint32_t k) { return one_if(i < k + 1); }},
    Pattern{"the last k are equal",
            [](std::uint32_t i, std::uint32_t length, std::uint32_t k) { return one_if(i + k >= length); }},
    Pattern{"the last k - 1 are equal",
            [](std::uint32_t i, std::uint32_t length, std::uint32_t k) { return one_if(i + k > length); }},
    Pattern{"every 13th is equal, two are larger",
            [](std::uint32_t i, std::uint32_t, std::uint32_t) { return one_if(i % 13 == 5) + one_if(i % 91 == 5); }},
    Pattern{"repeats after 256", [](std::uint32_t i, std::uint32_t, std::uint32_t) { return std::fmod(i, 256); }},
    Pattern{"falls", [](std::uint32_t i, std::uint32_t length, std::uint32_t) { return std::fmod(length - i, 3000); }},
    Pattern{"first and last of tiles",
            [](std::uint32_t i, std::uint32_t, std::uint32_t) { return one_if(i % 4096 == 0 || i % 4096 == 4095); }}};

struct Row {
    std::uint32_t length;
    std::uint32_t k;
};

constexpr std::array rows{Row{32, 1},     Row{32, 4},      Row{33, 5},     Row{64, 64},    Row{255, 8},
                          Row{256, 33},   Row{257, 64},    Row{1000, 5},   Row{1000, 65},  Row{1024, 64},
                          Row{1024, 1},   Row{1024, 128},  Row{1024, 129}, Row{1025, 128}, Row{2048, 100},
                          Row{4095, 3},   Row{4096, 128},  Row{4097, 64},  Row{8193, 1},   Row{8193, 128},
                          Row{20000, 32}, Row{40000, 100}, Row{2048, 2048}};

TEST_F(TopK1OnD3d12, EqualKeysAroundTheLimit) {
    for (const Pattern& pattern : patterns) {
        for (const Row& row : rows) {
            for (const std::uint32_t direction : {0u, 1u}) {
                SCOPED_TRACE(pattern.name);
                const Descriptor descriptor = top_k1(DataType::int16, {3, row.length}, 1, row.k, direction);
                const double sign = direction == 1 ? 1 : -1;
                std::uint32_t next = 0;
                expect_like_reference(engine(), descriptor, drawn(*descriptor.tensor("InputTensor"), [&] {
                                          return sign * pattern.value(next++ % row.length, row.length, row.k);
                                      }));
            }
        }
    }
}

/// Rows of a tile are rotated by 8 elements each (shaders/top_k1/top_k1_few.hlsl). A pattern with the same period gives
/// the largest elements to only a few threads, so that their candidate lists are full.
TEST_F(TopK1OnD3d12, FewThreadsHaveTheLargest) {
    for (const Long& item : {Long{1, 4096, 128}, Long{2, 2048, 64}, Long{4, 1024, 32}, Long{32, 128, 4},
                             Long{1, 12000, 128}, Long{512, 8192, 64}}) {
        const std::uint32_t threads = std::min(256u, item.length / 16);
        const Descriptor descriptor = top_k1(DataType::int16, {item.sequences, item.length}, 1, item.k, 1);
        std::uint32_t next = 0;
        expect_like_reference(engine(), descriptor, drawn(*descriptor.tensor("InputTensor"), [&] {
                                  return std::fmod(next++ % item.length, threads + 8);
                              }));
    }
}

/// NaN comes last, and a tile may contain nothing else.
TEST_F(TopK1OnD3d12, FewNumbersAmongNaNs) {
    for (const std::uint32_t length : {40u, 1000u, 4096u, 9000u}) {
        for (const std::uint32_t numbers : {0u, 1u, 7u, 8u, 9u}) {
            const Descriptor descriptor = top_k1(DataType::float32, {2, length}, 1, 8, 0);
            std::vector<float> elements(std::size_t{2} * length, std::numeric_limits<float>::quiet_NaN());
            for (std::uint32_t i = 0; i < numbers; ++i) {
                elements[length - 1 - i * 4] = static_cast<float>(i % 3);
                elements[length + i * 4] = std::numeric_limits<float>::infinity();
            }
            expect_like_reference(engine(), descriptor, tensor_of<float>(*descriptor.tensor("InputTensor"), elements));
        }
    }
}

/// Adjacent threads process adjacent sequences; the last thread group has fewer.
TEST_F(TopK1OnD3d12, FewOfManyAlongAnOuterAxis) {
    Random random(8);
    std::size_t turn = 0;
    for (const std::uint32_t length : {32u, 100u, 256u, 1000u, 4097u}) {
        for (const std::uint32_t k : {1u, 3u, 5u, 40u}) {
            if (k > length) {
                continue;
            }
            ++turn;
            const Descriptor descriptor = top_k1(types[turn % types.size()], {2, length, 37}, 1, k, turn % 2);
            expect_like_reference(engine(), descriptor, random_bits(random, *descriptor.tensor("InputTensor")));
            expect_like_reference(engine(), descriptor, tied(random, *descriptor.tensor("InputTensor")));
        }
    }
}

/// Complete sorts where adjacent threads process adjacent sequences: tiles of several sequences, of one, and of part of
/// one.
TEST_F(TopK1OnD3d12, SortsAlongAnOuterAxis) {
    Random random(9);
    std::size_t turn = 0;
    for (const std::uint32_t length : {2u, 15u, 16u, 17u, 100u, 512u, 1000u, 1025u, 2048u, 4096u, 4097u}) {
        for (int each = 0; each < 3; ++each) {
            ++turn;
            const Descriptor descriptor = top_k1(types[turn % types.size()], {2, length, 5}, 1, length, turn % 2);
            expect_like_reference(engine(), descriptor, random_bits(random, *descriptor.tensor("InputTensor")));
            expect_like_reference(engine(), descriptor, tied(random, *descriptor.tensor("InputTensor")));
        }
    }
}

/// Values are recovered from sorting keys, except zeros and NaNs, whose keys do not contain the sign.
TEST_F(TopK1OnD3d12, ZerosKeepTheirSignsInSorts) {
    for (const std::uint32_t length : {40u, 1500u, 5000u}) {
        for (const std::uint32_t direction : {0u, 1u}) {
            const Descriptor descriptor = top_k1(DataType::float32, {length}, 0, length, direction);
            std::vector<float> elements;
            for (std::uint32_t i = 0; i < length; ++i) {
                const float magnitude = i % 5 == 0 ? std::numeric_limits<float>::quiet_NaN() : float(i % 3);
                elements.push_back(i % 2 == 0 ? magnitude : -magnitude);
            }
            const core::TensorDesc& input = *descriptor.tensor("InputTensor");
            expect_like_reference(engine(), descriptor, tensor_of<float>(input, elements));
            const Descriptor halves = top_k1(DataType::float16, {length}, 0, length, direction);
            const std::vector<core::Float16> half_elements(elements.begin(), elements.end());
            expect_like_reference(engine(), halves,
                                  tensor_of<core::Float16>(*halves.tensor("InputTensor"), half_elements));
        }
    }
}

/// The K winners start and end at any position within a 32-bit word.
TEST_F(TopK1OnD3d12, NarrowValuesOfAnyAlignment) {
    Random random(5);
    for (const DataType type : {DataType::uint8, DataType::int16, DataType::float16}) {
        for (std::uint32_t k = 1; k <= 9; ++k) {
            for (const std::uint32_t length : {9u, 2100u}) {
                const Descriptor descriptor = top_k1(type, {7, length}, 1, k, 0);
                expect_like_reference(engine(), descriptor, random_bits(random, *descriptor.tensor("InputTensor")));
            }
        }
    }
}

TEST_F(TopK1OnD3d12, IsTheSameEveryTime) {
    Random random(6);
    for (const std::uint32_t k : {40u, 3001u}) {
        const Descriptor descriptor = top_k1(DataType::uint16, {3, 9000}, 1, k, 1);
        std::vector<core::Tensor> inputs;
        inputs.push_back(tied(random, *descriptor.tensor("InputTensor")));
        const auto first = run_on(engine(), descriptor, inputs);
        for (int turn = 0; turn < 5; ++turn) {
            const auto again = run_on(engine(), descriptor, inputs);
            EXPECT_EQ(elements_of(again[0]), elements_of(first[0]));
            EXPECT_EQ(elements_of(again[1]), elements_of(first[1]));
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::top_k1_test
