// Tests of reductions and operators built on them on the D3D12 engine: their plans, and slices of all lengths, layouts
// and types. A line is the slice of elements that are reduced to one.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string_view>

#include "engine/d3d12/reduction/reduction.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::reduction_test {
namespace {

using core::DataType;
using d3d12::Reduction;
using d3d12::ReductionDivision;
using d3d12::ReductionShape;
using operators::Descriptor;
using testing::ElementsAre;

// ---- Planning ----

std::vector<std::uint64_t> sizes_of(const d3d12::ReductionDimensions& dimensions) {
    std::vector<std::uint64_t> sizes;
    for (const auto& dimension : dimensions) {
        sizes.push_back(dimension.size);
    }
    return sizes;
}

/// An entry of the planner's table: how a tensor is split whose dimensions with an x in `reduced` are reduced.
struct Split {
    core::Dimensions sizes;
    core::Dimensions strides;  // empty if packed
    std::string_view reduced;
    std::vector<std::uint64_t> lines;
    std::vector<std::uint64_t> items;
    std::uint32_t vector;
    bool in_order = false;
};

const Split splits[] = {
    {{4, 8, 16}, {}, "..x", {32}, {16}, VECTOR_ITEMS},
    {{4, 8, 16}, {}, ".x.", {16, 4}, {8}, VECTOR_LINES},
    {{4, 8, 16}, {}, "x..", {128}, {4}, VECTOR_LINES},
    {{4, 8, 16}, {}, "x.x", {8}, {16, 4}, VECTOR_ITEMS},
    {{4, 8, 16}, {}, "xxx", {1}, {512}, VECTOR_ITEMS},
    {{4, 8, 16}, {}, "...", {512}, {1}, VECTOR_LINES},
    {{4, 8, 15}, {}, "..x", {32}, {15}, VECTOR_NONE},
    {{4, 8, 15}, {}, ".xx", {4}, {120}, VECTOR_ITEMS},
    {{4, 1, 16}, {}, "x..", {16}, {4}, VECTOR_LINES},
    {{4, 1, 16}, {}, ".x.", {64}, {1}, VECTOR_LINES},
    // Rows of 16 elements with a stride of 18: not all vectors of four would be aligned.
    {{4, 8, 16}, {144, 18, 1}, "..x", {32}, {16}, VECTOR_NONE},
    {{4, 8, 16}, {160, 20, 1}, "..x", {32}, {16}, VECTOR_ITEMS},
    // Transposed: elements are processed in the order of memory, unless the operator needs their indices.
    {{8, 16}, {1, 8}, "xx", {1}, {128}, VECTOR_ITEMS},
    {{8, 16}, {1, 8}, "xx", {1}, {16, 8}, VECTOR_NONE, true},
    {{8, 16}, {16, 1}, "xx", {1}, {128}, VECTOR_ITEMS, true},
    // Dimensions with a stride of 0 become the outermost.
    {{8, 16}, {1, 0}, "xx", {1}, {8, 16}, VECTOR_ITEMS},
};

Reduction reduction_of(const Split& row, const core::TensorDesc& source) {
    Reduction reduction;
    reduction.tensors[d3d12::reduction_input].desc = &source;
    for (const char mark : row.reduced) {
        reduction.reduced.push_back(mark == 'x');
    }
    reduction.in_order = row.in_order;
    return reduction;
}

TEST(ReductionPlanning, SplitsDimensionsAndMergesThem) {
    for (const Split& row : splits) {
        SCOPED_TRACE(testing::Message() << core::to_string(row.sizes) << " " << core::to_string(row.strides) << " "
                                        << row.reduced << " in order: " << row.in_order);
        const core::TensorDesc source = row.strides.empty() ? tensor(DataType::float32, row.sizes)
                                                            : tensor(DataType::float32, row.sizes, row.strides);
        const ReductionShape shape = d3d12::split(reduction_of(row, source));
        EXPECT_EQ(sizes_of(shape.lines), row.lines);
        EXPECT_EQ(sizes_of(shape.items), row.items);
        EXPECT_EQ(d3d12::vector_of(shape, NUMBERS_REAL, false), row.vector);
        EXPECT_EQ(d3d12::vector_of(shape, NUMBERS_TWO_WORDS, false), static_cast<std::uint32_t>(VECTOR_NONE));
    }
}

TEST(ReductionPlanning, LinesAreNumberedInTheOrderOfMemory) {
    const core::TensorDesc source = tensor(DataType::float32, {2, 3, 5, 7}, {105, 1, 21, 3});
    EXPECT_THAT(d3d12::line_strides(reduction_of({{}, {}, "..x.", {}, {}, 0}, source)), ElementsAre(21, 1, 0, 3));
    EXPECT_THAT(d3d12::line_strides(reduction_of({{}, {}, "xxxx", {}, {}, 0}, source)), ElementsAre(0, 0, 0, 0));
}

/// Every item of every line belongs to exactly one thread, for any numbers of both.
TEST(ReductionPlanning, DividesLinesAndItems) {
    for (const std::uint64_t lines : {1u, 2u, 7u, 31u, 32u, 33u, 1000u, 4096u, 300000u}) {
        for (const std::uint64_t items : {1u, 2u, 4u, 5u, 63u, 64u, 65u, 1023u, 1024u, 1025u, 70000u, 1u << 24}) {
            for (const std::uint64_t wanted : {4u, 5u, 16u, 17u}) {
                const bool side_by_side = wanted % 2 != 0;
                SCOPED_TRACE(testing::Message() << lines << " lines, " << items << " items, of which " << wanted);
                const ReductionDivision division = d3d12::divide(lines, items, side_by_side, wanted);
                EXPECT_EQ(division.threads_per_line * division.lines_per_group, 256u);
                EXPECT_EQ(division.threads_per_line & (division.threads_per_line - 1), 0u);
                const std::uint64_t line_groups = d3d12::groups_of(lines, division.lines_per_group);
                EXPECT_EQ(division.groups, line_groups * division.chunks);
                EXPECT_GE(division.chunks * division.items_per_chunk, items);
                EXPECT_LT((division.chunks - 1) * division.items_per_chunk, items);
                // There are enough threads to keep a GPU busy, but each has enough work.
                const std::uint64_t each = d3d12::groups_of(division.items_per_chunk, division.threads_per_line);
                EXPECT_TRUE(division.chunks == 1 || each >= 16);
                EXPECT_TRUE(each <= 16 || division.groups >= 512) << each << " items for a thread";
                EXPECT_TRUE(division.chunks == 1 || division.groups < 2 * 1024);
            }
        }
    }
}

struct Plan {
    core::Dimensions sizes;
    core::Dimensions strides;  // empty if packed
    std::vector<std::uint32_t> axes;
    DataType type;
    bool is_spread;
    std::size_t dispatches;
};

/// Sums of long lines of FLOAT32 along one dimension take one dispatch, whether a line has one thread group or many.
TEST(ReductionPlanning, SpreadsLongLinesOfFloat32) {
    const Plan plans[] = {
        {{4096, 4096}, {}, {1}, DataType::float32, true, 1},      {{4096, 4096}, {}, {0}, DataType::float32, true, 1},
        {{4096, 4096}, {}, {0, 1}, DataType::float32, true, 1},   {{4096, 4096}, {}, {0}, DataType::float16, false, 2},
        {{8, 128}, {}, {1}, DataType::float32, true, 1},          {{8, 127}, {}, {1}, DataType::float32, false, 1},
        {{64, 64}, {128, 1}, {0, 1}, DataType::float32, false, 1}};
    for (const Plan& row : plans) {
        SCOPED_TRACE(testing::Message() << core::to_string(row.sizes) << " along " << row.axes.front());
        core::Dimensions results = row.sizes;
        for (const std::uint32_t axis : row.axes) {
            results[axis] = 1;
        }
        const core::TensorDesc source =
            row.strides.empty() ? tensor(row.type, row.sizes) : tensor(row.type, row.sizes, row.strides);
        const d3d12::DispatchPlan plan =
            d3d12::find_binding("REDUCE")->plan(describe("REDUCE", {{"Function", 10},
                                                                    {"InputTensor", source},
                                                                    {"OutputTensor", tensor(row.type, results)},
                                                                    {"AxisCount", row.axes.size()},
                                                                    {"Axes", row.axes}}));
        EXPECT_EQ(plan.dispatches.size(), row.dispatches);
        const bool is_spread = plan.dispatches.front().shader.key().find(" VECTOR=3") != std::string::npos;
        EXPECT_EQ(is_spread, row.is_spread) << plan.dispatches.front().shader.key();
    }
}

// ---- Against the reference ----

constexpr std::array real_types{DataType::float32, DataType::float16};
constexpr std::array all_types{DataType::float32, DataType::float16, DataType::int64,  DataType::int32,
                               DataType::int16,   DataType::int8,    DataType::uint64, DataType::uint32,
                               DataType::uint16,  DataType::uint8};
constexpr std::uint32_t function_count = 12;

struct Input {
    DataType type;
    core::Dimensions sizes;
    /// Source of random layouts; null for packed ones.
    Random* layout = nullptr;
};

core::TensorDesc source_of(const Input& input) {
    return input.layout == nullptr ? tensor(input.type, input.sizes)
                                   : random_input(*input.layout, input.type, input.sizes);
}

core::TensorDesc target_of(const Input& input, DataType type, const core::Dimensions& sizes) {
    return input.layout == nullptr ? tensor(type, sizes) : random_output(*input.layout, type, sizes);
}

using Axes = std::vector<std::uint32_t>;

core::Dimensions without(core::Dimensions sizes, const Axes& axes) {
    for (const std::uint32_t axis : axes) {
        sizes[axis] = 1;
    }
    return sizes;
}

bool gives_indices(std::uint32_t function) {
    return function < 2;
}

Descriptor reduce(std::uint32_t function, const Input& input, const Axes& axes) {
    const DataType type = gives_indices(function) ? DataType::uint32 : input.type;
    return describe("REDUCE", {{"Function", function},
                               {"InputTensor", source_of(input)},
                               {"OutputTensor", target_of(input, type, without(input.sizes, axes))},
                               {"AxisCount", axes.size()},
                               {"Axes", axes}});
}

Descriptor argument(std::string_view op, const Input& input, const Axes& axes, std::uint32_t direction, DataType type) {
    return describe(op, {{"InputTensor", source_of(input)},
                         {"OutputTensor", target_of(input, type, without(input.sizes, axes))},
                         {"AxisCount", axes.size()},
                         {"Axes", axes},
                         {"AxisDirection", direction}});
}

Descriptor over_axes(std::string_view op, const Input& input, const Axes& axes) {
    return describe(op, {{"InputTensor", source_of(input)},
                         {"OutputTensor", target_of(input, input.type, input.sizes)},
                         {"AxisCount", axes.size()},
                         {"Axes", axes}});
}

Descriptor cumulate(std::string_view op, const Input& input, std::uint32_t axis, std::uint32_t direction,
                    std::uint32_t exclusive) {
    return describe(op, {{"InputTensor", source_of(input)},
                         {"OutputTensor", target_of(input, input.type, input.sizes)},
                         {"Axis", axis},
                         {"AxisDirection", direction},
                         {op == "CUMULATIVE_SUMMATION" ? "HasExclusiveSum" : "HasExclusiveProduct", exclusive}});
}

Axes random_axes(Random& random, std::size_t rank) {
    Axes axes;
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
        if (random.chance(2)) {
            axes.insert(random.chance(2) ? axes.begin() : axes.end(), axis);
        }
    }
    return axes;
}

bool is_legal(const Descriptor& descriptor) {
    return !operators::validate(descriptor, core::highest_feature_level);
}

class ReductionsOnD3d12 : public D3d12Test {
protected:
    /// Small numbers of either sign from a few values, so that ties occur; valid for unsigned types as well.
    void expect_like_reference(const Descriptor& descriptor) {
        std::vector<core::Tensor> inputs;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            const bool is_real = core::is_floating_point(slot.desc->data_type);
            const bool is_signed = is_real || core::is_signed_integer(slot.desc->data_type);
            inputs.push_back(drawn(*slot.desc, [&] {
                const double number = random_.between_reals(is_signed ? -3 : 0, 3);
                return is_real && !random_.chance(4) ? number : std::trunc(number);
            }));
        }
        tests::expect_like_reference(engine(), descriptor, inputs);
    }

    Random random_{1};
};

TEST_F(ReductionsOnD3d12, EveryFunctionAndTypeOfRandomShapes) {
    int runs = 0;
    for (int turn = 0; turn < 6 && !HasFailure(); ++turn) {
        for (std::uint32_t function = 0; function < function_count; ++function) {
            for (const DataType type : all_types) {
                const core::Dimensions sizes = random_sizes(random_, random_.between(1, 8), 2000);
                const Descriptor descriptor =
                    reduce(function, {type, sizes, &random_}, random_axes(random_, sizes.size()));
                if (is_legal(descriptor)) {
                    expect_like_reference(descriptor);
                    ++runs;
                }
            }
        }
    }
    // The number of valid pairs of a function and a type.
    EXPECT_EQ(runs, 6 * 72);
}

TEST_F(ReductionsOnD3d12, IndicesInBothDirections) {
    for (int turn = 0; turn < 300 && !HasFailure(); ++turn) {
        const auto number = static_cast<std::size_t>(turn);
        const core::Dimensions sizes = random_sizes(random_, random_.between(1, 8), 2000);
        const DataType index_type = number % 4 < 2 ? DataType::uint32 : DataType::int64;
        expect_like_reference(argument(turn % 2 == 0 ? "ARGMIN" : "ARGMAX", {all_types[number % 10], sizes, &random_},
                                       random_axes(random_, sizes.size()), random_.between(0, 1), index_type));
    }
}

/// Sizes around those at which the number of threads, thread groups or passes changes.
constexpr std::uint32_t line_sizes[] = {1,   2,   3,   4,    5,    8,    16,   61,   64,   65,    255,   256,
                                        257, 511, 512, 1000, 1024, 2047, 2048, 4096, 4100, 16384, 16388, 70001};

TEST_F(ReductionsOnD3d12, LinesOfAnySize) {
    // ARGMAX, L1, LOG_SUM_EXP, MIN, MULTIPLY, SUM and L2: one function for each way of combining elements, and some
    // that map elements first.
    for (const std::uint32_t function : {0u, 3u, 4u, 6u, 8u, 9u, 10u}) {
        for (const std::uint32_t size : line_sizes) {
            expect_like_reference(reduce(function, {DataType::float32, {3, size}}, {1}));
            expect_like_reference(reduce(function, {DataType::float16, {size, 24}}, {0}));
            expect_like_reference(reduce(function, {DataType::float32, {size, 24}}, {0}));
            const Descriptor wide = reduce(function, {DataType::int64, {2, size, 3}}, {1});
            if (is_legal(wide)) {
                expect_like_reference(wide);
            }
        }
        ASSERT_FALSE(HasFailure()) << "function " << function;
    }
}

TEST_F(ReductionsOnD3d12, ElementsOfLinesOfAnySize) {
    for (const std::string_view op : {"ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX1", "ACTIVATION_HARDMAX1"}) {
        for (const DataType type : real_types) {
            for (const std::uint32_t size : line_sizes) {
                expect_like_reference(over_axes(op, {type, {3, size}}, {1}));
                expect_like_reference(over_axes(op, {type, {size, 8}}, {0}));
            }
        }
        ASSERT_FALSE(HasFailure()) << op;
    }
}

TEST_F(ReductionsOnD3d12, ElementsOfRandomShapes) {
    const std::string_view operators[] = {"ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX1", "ACTIVATION_HARDMAX1"};
    for (std::size_t turn = 0; turn < 240 && !HasFailure(); ++turn) {
        const core::Dimensions sizes = random_sizes(random_, random_.between(1, 8), 3000);
        expect_like_reference(over_axes(operators[turn % 3], {real_types[turn % 2], sizes, &random_},
                                        random_axes(random_, sizes.size())));
    }
}

/// Elements differ, because with equal ones a norm does not show which were added.
TEST_F(ReductionsOnD3d12, NormsOfLinesOfAnySize) {
    for (const DataType type : real_types) {
        for (const std::uint32_t size : line_sizes) {
            for (const std::uint32_t axis : {0u, 1u}) {
                const core::Dimensions sizes = axis == 1 ? core::Dimensions{3, size} : core::Dimensions{size, 8};
                expect_like_reference(describe("LP_NORMALIZATION", {{"InputTensor", tensor(type, sizes)},
                                                                    {"OutputTensor", tensor(type, sizes)},
                                                                    {"Axis", axis},
                                                                    {"Epsilon", 0.25},
                                                                    {"P", random_.between(1, 2)}}));
            }
        }
    }
}

/// Several hundred chunks of one line.
TEST_F(ReductionsOnD3d12, LongLines) {
    const core::Dimensions sizes{2, 1200, 1001};
    for (const std::uint32_t function : {1u, 2u, 4u, 6u, 7u}) {
        expect_like_reference(reduce(function, {DataType::float32, sizes}, {1, 2}));
    }
    expect_like_reference(over_axes("ACTIVATION_SOFTMAX1", {DataType::float32, sizes}, {1, 2}));
    expect_like_reference(over_axes("ACTIVATION_HARDMAX1", {DataType::float32, sizes}, {1, 2}));
    expect_like_reference(cumulate("CUMULATIVE_SUMMATION", {DataType::uint32, {2, 500000}}, 1, 1, 0));
    expect_like_reference(cumulate("CUMULATIVE_SUMMATION", {DataType::float32, {300000, 3}}, 0, 0, 1));
}

TEST_F(ReductionsOnD3d12, CumulatedLinesOfAnySize) {
    for (const std::string_view op : {"CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT"}) {
        for (const DataType type : {DataType::float32, DataType::float16, DataType::int32, DataType::uint64}) {
            for (const std::uint32_t size : line_sizes) {
                const std::uint32_t direction = random_.between(0, 1);
                const std::uint32_t exclusive = random_.between(0, 1);
                expect_like_reference(cumulate(op, {type, {3, size}}, 1, direction, exclusive));
                expect_like_reference(cumulate(op, {type, {size, 5}, &random_}, 0, exclusive, direction));
            }
            ASSERT_FALSE(HasFailure()) << op;
        }
    }
}

/// The counters by which thread groups find out that they are the last one are reset for each execution.
TEST_F(ReductionsOnD3d12, JoinedGroupsCountAgain) {
    const Descriptor descriptor = reduce(10, {DataType::float32, {3, 100000}}, {1});
    std::vector<core::Tensor> inputs;
    inputs.push_back(drawn(*descriptor.tensor("InputTensor"), [&] { return random_.between_reals(-1, 1); }));
    const auto expected = elements_of(run_on(engine(), descriptor, inputs).front());
    auto executable = engine().compile(descriptor);
    ASSERT_TRUE(executable.has_value());
    for (int bind = 0; bind < 2; ++bind) {
        ASSERT_TRUE((*executable)->bind(pointers_to(inputs)).has_value());
        for (int execution = 0; execution < 3; ++execution) {
            core::Tensor output = core::output_tensor(*descriptor.tensor("OutputTensor"));
            core::Tensor* target = &output;
            ASSERT_TRUE((*executable)->execute().has_value());
            ASSERT_TRUE((*executable)->read({&target, 1}).has_value());
            EXPECT_EQ(elements_of(output), expected) << "execution " << execution;
        }
    }
}

Descriptor coordinates(const core::TensorDesc& source, const core::TensorDesc& target) {
    return describe("NONZERO_COORDINATES", {{"InputTensor", source},
                                            {"OutputCountTensor", tensor(DataType::uint32, {1})},
                                            {"OutputCoordinatesTensor", target}});
}

TEST_F(ReductionsOnD3d12, CoordinatesOfFewAndOfMany) {
    for (const std::uint32_t rows : {1u, 15u, 16u, 17u, 300u, 5000u}) {
        for (const int kept : {0, 1, 3, 100}) {
            const core::Dimensions sizes{rows, 3, 5};
            const core::TensorDesc source = random_input(random_, DataType::float16, sizes);
            const Descriptor descriptor = coordinates(source, random_output(random_, DataType::uint32, {rows * 15, 3}));
            std::vector<core::Tensor> inputs;
            inputs.push_back(
                drawn(source, [&] { return kept != 0 && random_.chance(static_cast<unsigned>(kept)) ? 2.0 : -0.0; }));
            const auto outputs = run_on(engine(), descriptor, inputs);
            std::vector<std::uint64_t> expected;
            const auto elements = elements_of(inputs.front());
            for (std::uint32_t i = 0; i < elements.size(); ++i) {
                if ((elements[i] & 0x7fff) != 0) {
                    expected.insert(expected.end(), {i / 15, i / 5 % 3, i % 5});
                }
            }
            EXPECT_THAT(elements_of(outputs[0]), ElementsAre(expected.size() / 3));
            auto found = elements_of(outputs[1]);
            found.resize(expected.size());
            EXPECT_EQ(found, expected) << rows << " rows, one of " << kept;
        }
    }
}

/// Results do not depend on the order in which thread groups run.
TEST_F(ReductionsOnD3d12, GivesTheSameBitsAgain) {
    for (const Descriptor& descriptor :
         {reduce(10, {DataType::float32, {3, 100001}}, {1}), reduce(10, {DataType::float32, {9001, 40}}, {0}),
          over_axes("ACTIVATION_SOFTMAX1", {DataType::float32, {2, 50000}}, {1}),
          cumulate("CUMULATIVE_SUMMATION", {DataType::float32, {90001}}, 0, 0, 0)}) {
        std::vector<core::Tensor> inputs;
        inputs.push_back(drawn(*descriptor.tensor("InputTensor"), [&] { return random_.between_reals(-1, 1); }));
        const auto first = run_on(engine(), descriptor, inputs);
        for (int again = 0; again < 3; ++again) {
            EXPECT_EQ(elements_of(run_on(engine(), descriptor, inputs).front()), elements_of(first.front()));
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::reduction_test
