// Tests of engine/cpu/product: tiles, blocks and the input positions of windows, independent of the operator.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "engine/cpu/product/filter_positions.h"
#include "engine/cpu/product/right_block.h"
#include "engine/cpu/product/tile.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/with_registers.h"

namespace dmlconform::tests::product_blocks_test {
namespace {

using cpu::product::Axis;
using cpu::product::Factors;

std::vector<double> random_numbers(Random& random, std::int64_t count) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    std::generate(numbers.begin(), numbers.end(), [&] { return double{random.normal()}; });
    return numbers;
}

/// Sums must not depend on the processor.
TEST(ProductTile, EveryInstructionSetComputesTheSame) {
    namespace product = cpu::product;
    Random random(1);
    std::vector<product::Tile> tiles = {product::portable_tile(), product::small_tile(), product::fastest_tile(1, 1),
                                        product::fastest_tile(100, 100)};
    if (const product::Tile& large = tiles.back(); large.add_half != nullptr) {
        tiles.push_back({.rows = large.rows, .columns = large.columns / 2, .add = large.add_half});
    }
    for (const product::Tile& tile : tiles) {
        for (const std::int64_t depth : {0, 1, 2, 7, 256, 1000}) {
            const auto left = random_numbers(random, std::max<std::int64_t>(1, tile.rows * depth));
            const auto right = random_numbers(random, std::max<std::int64_t>(1, tile.columns * depth));
            const std::int64_t stride = tile.columns + 3;
            std::vector<double> sums = random_numbers(random, tile.rows * stride);
            std::vector<double> expected = sums;
            for (std::int64_t i = 0; i < tile.rows * tile.columns; ++i) {
                for (std::int64_t k = 0; k < depth; ++k) {
                    expected[static_cast<std::size_t>(i / tile.columns * stride + i % tile.columns)] +=
                        left[static_cast<std::size_t>(k * tile.rows + i / tile.columns)] *
                        right[static_cast<std::size_t>(k * tile.columns + i % tile.columns)];
                }
            }
            tile.add(left.data(), right.data(), depth, sums.data(), stride, false);
            EXPECT_EQ(sums, expected) << tile.rows << " rows, " << depth;
            std::vector<double> from_zero = sums;
            std::vector<double> from_given_zero(sums.size(), 0);
            tile.add(left.data(), right.data(), depth, from_zero.data(), stride, true);
            tile.add(left.data(), right.data(), depth, from_given_zero.data(), stride, false);
            for (std::int64_t i = 0; i < tile.rows * tile.columns; ++i) {
                const auto at = static_cast<std::size_t>(i / tile.columns * stride + i % tile.columns);
                EXPECT_EQ(from_zero[at], from_given_zero[at]) << tile.rows << " rows, " << depth;
            }
        }
    }
}

TEST(ProductTile, EveryInstructionSetComputesTheSameBesideSums) {
    using cpu::product::tile_columns;
    using cpu::product::tile_rows;
    Random random(1);
    for (const std::int64_t depth : {0, 1, 2, 7, 256, 1000}) {
        const auto left = random_numbers(random, std::max<std::int64_t>(1, tile_rows * depth));
        const auto right = random_numbers(random, std::max<std::int64_t>(1, tile_columns * depth));
        constexpr std::int64_t stride = tile_columns + 3;
        const std::vector<double> given = random_numbers(random, tile_rows * stride);
        std::vector<double> sums = given;
        std::vector<double> squares = given;
        std::vector<double> bounds = given;
        for (std::int64_t i = 0; i < tile_rows * tile_columns; ++i) {
            const auto at = static_cast<std::size_t>(i / tile_columns * stride + i % tile_columns);
            for (std::int64_t k = 0; k < depth; ++k) {
                const double term = left[static_cast<std::size_t>(k * tile_rows + i / tile_columns)] *
                                    right[static_cast<std::size_t>(k * tile_columns + i % tile_columns)];
                sums[at] += term;
                squares[at] = std::fma(sums[at], sums[at], squares[at]);
                bounds[at] += std::fabs(term);
            }
        }
        std::vector<double> magnitudes = left;
        std::ranges::transform(magnitudes, magnitudes.begin(), [](double number) { return std::fabs(number); });
        for (const cpu::Registers widest : all_registers) {
            const WithRegisters registers(widest);
            for (const int variant : {0, 1, 2}) {
                const bool with_bounds = variant > 0;
                const bool of_fp32 = variant > 1;  // which these numbers are
                std::vector<double> same_sums = given;
                std::vector<double> same_squares = given;
                std::vector<double> same_bounds = given;
                cpu::product::fastest_partial_tile(with_bounds, of_fp32)(
                    left.data(), right.data(), depth, same_sums.data(),
                    {same_squares.data(), with_bounds ? same_bounds.data() : nullptr, magnitudes.data()}, stride,
                    false);
                EXPECT_EQ(sums, same_sums) << depth;
                EXPECT_EQ(squares, same_squares) << depth;
                EXPECT_EQ(with_bounds ? bounds : given, same_bounds) << depth;
                // From zero, whatever was there.
                std::vector<double> zeros(given.size(), 0);
                std::vector<double> from_zero[3] = {zeros, zeros, zeros};
                std::vector<double> first[3] = {zeros, zeros, zeros};
                for (std::int64_t i = 0; i < tile_rows * tile_columns; ++i) {
                    const auto at = static_cast<std::size_t>(i / tile_columns * stride + i % tile_columns);
                    first[0][at] = first[1][at] = 7;
                    first[2][at] = with_bounds ? 7 : 0;
                }
                const auto add = [&](std::vector<double>(&numbers)[3], bool is_first) {
                    cpu::product::fastest_partial_tile(with_bounds, of_fp32)(
                        left.data(), right.data(), depth, numbers[0].data(),
                        {numbers[1].data(), with_bounds ? numbers[2].data() : nullptr, magnitudes.data()}, stride,
                        is_first);
                };
                add(from_zero, false);
                add(first, true);
                EXPECT_EQ(from_zero[0], first[0]) << depth;
                EXPECT_EQ(from_zero[1], first[1]) << depth;
                EXPECT_EQ(from_zero[2], first[2]) << depth;
            }
        }
    }
}

/// For any sizes relative to tiles and blocks, each sum adds its terms in the order of k.
TEST(ProductBlocks, SumsTakeTheirTermsInOrder) {
    Random random(2);
    const std::array<cpu::product::Shape, 11> shapes{{{1, 1, 1, 1},
                                                      {3, 4, 5, 8},
                                                      {2, 5, 3, 9},
                                                      {1, 7, 256, 7},
                                                      {1, 3, 257, 129},
                                                      {1, 2, 5, 260},
                                                      {1, 513, 3, 5},
                                                      {2, 6, 600, 130},
                                                      {1, 1, 700, 1},
                                                      {4, 33, 17, 128},
                                                      {1, 300, 1800, 258}}};
    for (const auto& shape : shapes) {
        // Two batches share each left matrix.
        const std::int64_t left_batches = shape.batches % 2 == 0 ? shape.batches / 2 : shape.batches;
        const cpu::product::MatrixFactors factors(
            shape, {random_numbers(random, left_batches * shape.rows * shape.depth)},
            {random_numbers(random, shape.batches * shape.depth * shape.columns)});
        std::vector<int> taken(static_cast<std::size_t>(shape.batches * shape.rows * shape.columns));
        cpu::product::multiply(factors, true, [&](const cpu::product::Sums& sums) {
            for (std::int64_t i = 0; i < sums.count; ++i) {
                double value = 0;
                double bound = 0;
                double partial_squares = 0;
                for (std::int64_t k = 0; k < shape.depth; ++k) {
                    const double a = factors.left().values[static_cast<std::size_t>(
                        ((sums.batch % left_batches) * shape.rows + sums.row) * shape.depth + k)];
                    const double b = factors.right().values[static_cast<std::size_t>(
                        (sums.batch * shape.depth + k) * shape.columns + sums.column + i)];
                    value += a * b;
                    bound += std::fabs(a) * std::fabs(b);
                    partial_squares = std::fma(value, value, partial_squares);
                }
                ASSERT_EQ(sums.values[i], value);
                ASSERT_EQ(sums.bounds[i], bound);
                ASSERT_EQ(sums.partial_squares[i], partial_squares);
                ASSERT_EQ(sums.squares, nullptr);
                ++taken[static_cast<std::size_t>((sums.batch * shape.rows + sums.row) * shape.columns + sums.column +
                                                 i)];
            }
        });
        EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), static_cast<std::ptrdiff_t>(taken.size()));
    }
}

/// Also where a block has a single row, whose terms are added in another way.
TEST(ProductBlocks, SumsFP32ReadInPlaceAsCopied) {
    Random random(4);
    const std::array<cpu::product::Shape, 6> shapes{
        {{1, 2, 3, 4}, {1, 9, 300, 17}, {2, 513, 7, 5}, {1, 33, 17, 600}, {3, 5, 257, 1}, {1, 1025, 2, 300}}};
    for (const auto& shape : shapes) {
        const auto floats_of = [&](std::int64_t count) {
            std::vector<float> floats(static_cast<std::size_t>(count));
            std::generate(floats.begin(), floats.end(), [&] { return random.normal(); });
            return floats;
        };
        const std::vector<float> left = floats_of(shape.batches * shape.rows * shape.depth);
        const std::vector<float> right = floats_of(shape.batches * shape.depth * shape.columns);
        const auto sums_of = [&](cpu::product::Numbers a, cpu::product::Numbers b) {
            const cpu::product::MatrixFactors factors(shape, std::move(a), std::move(b));
            std::vector<double> all(static_cast<std::size_t>(shape.batches * shape.rows * shape.columns));
            cpu::product::multiply(factors, false, [&](const cpu::product::Sums& sums) {
                std::copy_n(sums.values, sums.count, all.begin() + sums.number(shape));
            });
            return all;
        };
        const auto expected = sums_of({.values = {left.begin(), left.end()}}, {.values = {right.begin(), right.end()}});
        EXPECT_EQ(sums_of({.values = {}, .floats = left, .are_fp32 = true},
                          {.values = {}, .floats = right, .are_fp32 = true}),
                  expected);
        EXPECT_EQ(sums_of({.values = {}, .floats = left, .are_fp32 = true},
                          {.values = {right.begin(), right.end()}, .are_fp32 = true}),
                  expected);
    }
}

/// Checks every filter element at every output position against the definition.
TEST(FilterPositions, TapsMeetElements) {
    Random random(3);
    for (int round = 0; round < 2000; ++round) {
        Axis axis;
        axis.elements = random.pick(1, 7);
        axis.taps = random.pick(1, 4);
        axis.stride = random.pick(1, 4);
        axis.dilation = random.pick(1, 3);
        axis.padding = random.pick(0, 6);
        axis.positions = random.pick(1, 9);
        axis.output_padding = random.pick<std::int64_t>(0, axis.positions - 1);
        axis.backward = random.one_in(2);
        for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
            const auto meetings = cpu::product::meetings_of(axis, tap);
            for (std::int64_t position = 0; position < axis.positions; ++position) {
                std::int64_t wanted = Factors::nowhere;
                for (std::int64_t element = 0; element < axis.elements; ++element) {
                    const std::int64_t from = axis.backward ? element : position;
                    const std::int64_t to = axis.backward ? position : element;
                    if (from * axis.stride + tap * axis.dilation - axis.padding == to &&
                        position < axis.positions - axis.output_padding) {
                        wanted = element;
                    }
                }
                ASSERT_EQ(meetings.element_at(position), wanted);
            }
        }
    }
}

cpu::product::Convolution random_convolution(Random& random) {
    cpu::product::Convolution convolution{.batches = random.pick(1, 2),
                                          .groups = random.pick(1, 2),
                                          .channels = random.pick(1, 3),
                                          .output_channels = random.pick(1, 2),
                                          .axes = std::vector<Axis>(random.pick<std::size_t>(1, 3))};
    const bool backward = random.one_in(6);
    for (Axis& axis : convolution.axes) {
        const bool last = &axis == &convolution.axes.back();
        axis.elements = random.pick(1, last ? 45 : 6);
        axis.taps = random.pick(1, 4);
        axis.stride = last && !random.one_in(4) ? 1 : random.pick(1, 3);
        axis.dilation = random.pick(1, 3);
        axis.padding = random.pick(0, 5);
        axis.positions = random.pick(1, last ? 50 : 6);
        axis.output_padding = random.one_in(6) ? random.pick<std::int64_t>(0, axis.positions - 1) : 0;
        axis.backward = backward;
    }
    return convolution;
}

cpu::product::ConvolutionFactors random_factors(Random& random, const cpu::product::Convolution& convolution) {
    const cpu::product::Shape shape = convolution.shape();
    std::int64_t elements = shape.batches * convolution.channels;
    for (const Axis& axis : convolution.axes) {
        elements *= axis.elements;
    }
    return {convolution,
            {random_numbers(random, convolution.groups * shape.rows * shape.depth)},
            {random_numbers(random, elements)}};
}

/// The same factors as FP32 numbers in an array.
struct InFloats {
    explicit InFloats(const cpu::product::Numbers& numbers) : floats(numbers.values.begin(), numbers.values.end()) {}
    [[nodiscard]] cpu::product::Numbers numbers() const { return {.values = {}, .floats = floats, .are_fp32 = true}; }

    std::vector<float> floats;
};

/// Wherever a section of a row starts and ends, each sum adds its terms in the order of k, with registers of any width.
TEST(FilterPositions, RowsTakeTheirTermsInOrder) {
    Random random(4);
    for (int round = 0; round < 3000; ++round) {
        const auto convolution = random_convolution(random);
        const auto factors = random_factors(random, convolution);
        const InFloats left(factors.left());
        const InFloats right(factors.right());
        const cpu::product::ConvolutionFactors in_floats(convolution, left.numbers(), right.numbers());
        const cpu::product::Shape& shape = factors.shape();
        const std::int64_t batch = random.pick<std::int64_t>(0, shape.batches - 1);
        const std::int64_t row = random.pick<std::int64_t>(0, shape.rows - 1);
        const std::int64_t column = random.one_in(2) ? 0 : random.pick<std::int64_t>(0, shape.columns - 1);
        const std::int64_t count = random.pick<std::int64_t>(1, shape.columns - column);
        std::vector<double> wanted(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t k = 0; k < shape.depth; ++k) {
                const std::int64_t at = factors.right_index(batch, k, column + i);
                if (at != Factors::nowhere) {
                    wanted[static_cast<std::size_t>(i)] += factors.left().values[factors.left_index(batch, row, k)] *
                                                           factors.right().values[static_cast<std::size_t>(at)];
                }
            }
        }
        for (const cpu::Registers widest : all_registers) {
            const WithRegisters registers(widest);
            std::vector<double> sums(wanted.size());
            factors.add_row(batch, row, column, count, sums.data());
            ASSERT_EQ(sums, wanted) << "round " << round << " with registers " << static_cast<int>(widest);
            std::ranges::fill(sums, 0);
            in_floats.add_row(batch, row, column, count, sums.data());
            ASSERT_EQ(sums, wanted) << "floats, round " << round << " with registers " << static_cast<int>(widest);
        }
    }
}

/// Loads some rows and columns, and compares them with what `factors` says of each element.
void expect_block(const Factors& factors, cpu::product::RightBlock& block, std::int64_t width, Random& random) {
    using cpu::product::Part;
    const cpu::product::Shape& shape = factors.shape();
    const std::int64_t batch = random.pick<std::int64_t>(0, shape.batches - 1);
    const std::int64_t column = random.one_in(2) ? 0 : random.pick<std::int64_t>(0, shape.columns - 1);
    const std::int64_t columns =
        random.one_in(2) ? shape.columns - column : random.pick<std::int64_t>(1, shape.columns - column);
    const std::int64_t k = random.pick<std::int64_t>(0, shape.depth - 1);
    const std::int64_t count = std::min<std::int64_t>(shape.depth - k, 40);
    const std::int64_t tiles = (columns + width - 1) / width;
    const std::int64_t width_of_last = columns - (tiles - 1) * width <= 8 ? 8 : width;
    const std::int64_t distance = width * count + 5;
    std::vector<double> loaded(static_cast<std::size_t>(tiles * distance), 7);
    const Part part = random.one_in(3) ? Part::squares : Part::values;
    block.select(batch, column, columns);
    block.load(part, k, count, {loaded.data(), distance, tiles, width, width_of_last});
    std::vector<double> wanted(loaded.size(), 7);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t width_here = tile + 1 == tiles ? width_of_last : width;
        for (std::int64_t i = 0; i < count * width_here; ++i) {
            const std::int64_t number = tile * width + i % width_here;
            const std::int64_t at =
                number < columns ? factors.right_index(batch, k + i / width_here, column + number) : Factors::nowhere;
            const double element =
                at == Factors::nowhere ? 0 : factors.right().elements()[static_cast<std::size_t>(at)];
            wanted[static_cast<std::size_t>(tile * distance + i)] = part == Part::squares ? element * element : element;
        }
    }
    ASSERT_EQ(loaded, wanted);
}

/// For any filter and any columns, with registers of any width. What was found for other rows and batches is the same.
TEST(RightBlock, HasTheElementsOfItsColumns) {
    Random random(5);
    for (int round = 0; round < 400; ++round) {
        auto convolution = random_convolution(random);
        if (random.one_in(20)) {
            convolution.axes.back().taps = random.pick(200, 300);
        }
        const auto factors = random_factors(random, convolution);
        const InFloats left(factors.left());
        const InFloats right(factors.right());
        const cpu::product::ConvolutionFactors in_floats(convolution, left.numbers(), right.numbers());
        for (const cpu::Registers widest : all_registers) {
            const WithRegisters registers(widest);
            for (const Factors* const given : std::initializer_list<const Factors*>{&factors, &in_floats}) {
                cpu::product::RightBlock block(*given);
                for (int part = 0; part < 4 && !HasFatalFailure(); ++part) {
                    SCOPED_TRACE("round " + std::to_string(round) + " with registers " +
                                 std::to_string(static_cast<int>(widest)));
                    expect_block(*given, block, random.one_in(2) ? 8 : 16, random);
                }
            }
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::product_blocks_test
