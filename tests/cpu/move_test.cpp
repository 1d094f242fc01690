// Tests of engine/cpu/movement/move: random moves against their definition, element by element.
#include "engine/cpu/movement/move.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::move_test {
namespace {

using core::DataType;
using core::Tensor;
using cpu::movement::Axis;
using cpu::movement::Move;
using cpu::movement::nowhere;

constexpr std::uint64_t constant = 0xfedcba9876543210;

/// Pairs each destination offset of the move with its source offset.
std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(const Move& move) {
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs{{move.to_start, move.from_start}};
    for (const Axis& axis : move.axes) {
        std::vector<std::pair<std::int64_t, std::int64_t>> finer;
        for (const auto& [to, from] : pairs) {
            for (std::int64_t i = 0; i < axis.size; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const std::int64_t step = axis.offsets.empty() ? i * axis.from_stride : axis.offsets[at];
                finer.emplace_back(to + (axis.to_offsets.empty() ? i * axis.to_stride : axis.to_offsets[at]),
                                   from == nowhere || step == nowhere ? nowhere : from + step);
            }
        }
        pairs = std::move(finer);
    }
    return pairs;
}

template <class Element>
void expect_carried(const Move& move, const std::string& what) {
    Tensor expected = blank_tensor(move.to->desc);
    for (const auto& [to, from] : pairs_of(move)) {
        expected.as<Element>()[static_cast<std::size_t>(to)] =
            from == nowhere || move.from == nullptr ? static_cast<Element>(constant)
                                                    : move.from->as<Element>()[static_cast<std::size_t>(from)];
    }
    cpu::movement::carry_out(move);
    ASSERT_TRUE(std::ranges::equal(move.to->buffer.bytes(), expected.buffer.bytes())) << what;
}

void expect_carried(const Move& move, const std::string& what) {
    cpu::movement::with_width(move.to->desc.data_type, [&]<class Element>() { expect_carried<Element>(move, what); });
}

constexpr DataType of_each_width[]{DataType::uint8, DataType::float16, DataType::int32, DataType::float64};

Tensor some_bytes(DataType type, std::uint32_t count) {
    Tensor tensor(core::TensorDesc::packed(type, {count}));
    std::uint8_t next = 1;
    for (std::byte& byte : tensor.buffer.bytes()) {
        byte = std::byte{next};
        next = static_cast<std::uint8_t>(next * 5 + 3);
    }
    return tensor;
}

/// A dimension over the output's next `stride` elements. Its sources are strided, random or missing.
Axis random_axis(Random& random, std::int64_t size, std::int64_t stride) {
    Axis axis{.size = size, .to_stride = stride, .from_stride = random.pick<std::int64_t>(0, 3)};
    if (random.pick(0, 1) == 0) {
        return axis;
    }
    for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t offset = random.pick(0, 1) == 0 ? i : random.pick<std::int64_t>(0, 20);
        axis.offsets.push_back(random.pick(0, 4) == 0 ? nowhere : offset);
    }
    if (random.pick(0, 2) == 0) {
        for (std::int64_t i = 0; i < size; ++i) {
            axis.to_offsets.push_back((random.pick(0, 1) == 0 ? i : size - 1 - i) * stride);
        }
        std::sort(axis.to_offsets.begin(), axis.to_offsets.end());
        axis.to_offsets.erase(std::unique(axis.to_offsets.begin(), axis.to_offsets.end()), axis.to_offsets.end());
        std::reverse(axis.to_offsets.begin(), axis.to_offsets.end());
        axis.size = static_cast<std::int64_t>(axis.to_offsets.size());
        axis.offsets.resize(axis.to_offsets.size());
    }
    return axis;
}

TEST(Move, AnyAxes) {
    Random random(7);
    for (int i = 0; i < 2000; ++i) {
        const DataType type = of_each_width[random.pick<std::size_t>(0, 3)];
        const Tensor input = some_bytes(type, 400);
        std::vector<Axis> axes;
        std::int64_t extent = 1;
        for (int count = random.pick(0, 4); count > 0; --count) {
            const std::int64_t size = random.pick<std::int64_t>(1, 6);
            const std::int64_t stride = extent + random.pick<std::int64_t>(0, 1);
            axes.insert(axes.begin(), random_axis(random, size, stride));
            extent = stride * size + 1;
        }
        Tensor output = blank_tensor(core::TensorDesc::packed(type, {static_cast<std::uint32_t>(extent + 9)}));
        const bool reads = random.pick(0, 9) != 0;
        expect_carried({.from = reads ? &input : nullptr,
                        .to = &output,
                        .from_start = 3,
                        .to_start = 2,
                        .axes = axes,
                        .constant = constant},
                       "move " + std::to_string(i));
    }
}

/// Copies each element several times, as in upscaled images. Some rows have no source.
TEST(Move, CopiesInSuccession) {
    for (const DataType type : of_each_width) {
        const Tensor input = some_bytes(type, 400);
        for (std::int64_t copies = 2; copies <= 6; ++copies) {
            for (const std::int64_t length : {1, 2, 7, 40}) {
                const std::int64_t row = length * copies;
                Axis rows{.size = 3, .to_stride = row + 1};
                rows.offsets = {0, nowhere, 5};
                for (const std::int64_t step : {1, 3, -2}) {
                    Tensor output =
                        blank_tensor(core::TensorDesc::packed(type, {static_cast<std::uint32_t>(3 * (row + 1) + 2)}));
                    expect_carried({.from = &input,
                                    .to = &output,
                                    .from_start = 100,
                                    .to_start = 2,
                                    .axes = {rows, {length, copies, step}, {copies, 1, 0}},
                                    .constant = constant},
                                   std::to_string(copies) + " copies of " + std::to_string(length));
                }
            }
        }
    }
}

/// Long runs, which are split among threads.
TEST(Move, LongRuns) {
    for (const DataType type : of_each_width) {
        const std::uint32_t length = 300'001;
        const Tensor input = some_bytes(type, length);
        for (const std::int64_t step : {1, 2, -1}) {
            Tensor output = blank_tensor(core::TensorDesc::packed(type, {length}));
            const std::int64_t size = step == 2 ? length / 2 : length;
            const std::int64_t start = step < 0 ? length - 1 : 0;
            expect_carried(
                {.from = &input, .to = &output, .from_start = start, .axes = {{size, 1, step}}, .constant = constant},
                "step " + std::to_string(step));
        }
        // Only the middle of the run has a source.
        Axis axis{.size = length, .to_stride = 1};
        for (std::int64_t i = 0; i < length; ++i) {
            axis.offsets.push_back(i < 1000 || i > 250'000 ? nowhere : i);
        }
        Tensor output = blank_tensor(core::TensorDesc::packed(type, {length}));
        expect_carried({.from = &input, .to = &output, .axes = {axis}, .constant = constant}, "with ends");
    }
}

TEST(Move, EachElementSeparately) {
    Random random(8);
    for (int i = 0; i < 200; ++i) {
        const auto sizes = random.sizes(random.pick<std::size_t>(1, 8), 5, 500);
        const auto desc = random.layout(DataType::uint16, sizes, operators::FieldKind::output);
        Tensor output = blank_tensor(desc);
        const Tensor input = some_bytes(DataType::uint16, 64);
        cpu::movement::move_each(input, output, constant, [](cpu::movement::Coordinates coordinates) -> std::int64_t {
            std::int64_t sum = 0;
            for (std::size_t d = 0; d < coordinates.size(); ++d) {
                sum += coordinates[d] * static_cast<std::int64_t>(d + 1);
            }
            return sum % 5 == 0 ? nowhere : sum % 64;
        });
        Tensor expected = blank_tensor(desc);
        const auto addresses = addresses_of(desc);
        for (std::size_t k = 0; k < addresses.size(); ++k) {
            const auto coordinates = coordinates_of(k, sizes);
            std::size_t sum = 0;
            for (std::size_t d = 0; d < coordinates.size(); ++d) {
                sum += coordinates[d] * (d + 1);
            }
            expected.as<std::uint16_t>()[addresses[k]] =
                sum % 5 == 0 ? std::uint16_t{0x3210} : input.as<std::uint16_t>()[sum % 64];
        }
        ASSERT_TRUE(std::ranges::equal(output.buffer.bytes(), expected.buffer.bytes())) << core::to_string(desc);
    }
}

}  // namespace
}  // namespace dmlconform::tests::move_test
