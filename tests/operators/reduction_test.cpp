// Tests of engine/operators/rules/reduction: legal reductions, and which functions of REDUCE support a type.
#include "engine/operators/rules/reduction.h"

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::reduction_test {
namespace {

using core::DataType;
using core::FeatureLevel;
using operators::Descriptor;
using operators::ReduceFunction;

std::int64_t number(ReduceFunction function) {
    return static_cast<std::int64_t>(function);
}

Descriptor reduce(ReduceFunction function, DataType input, DataType output) {
    return describe("REDUCE", {{"Function", number(function)},
                               {"InputTensor", tensor(input, {1, 2, 3, 4})},
                               {"OutputTensor", tensor(output, {1, 1, 3, 1})},
                               {"Axes", {3, 1}}});
}

core::TensorDesc floats(core::Dimensions sizes) {
    return tensor(DataType::float32, std::move(sizes));
}

TEST(Reduce, SizesAndAxes) {
    const RuleCase cases[] = {
        {"two axes", {}, ""},
        {"all axes", {{"Axes", {0, 1, 2, 3}}, {"OutputTensor", floats({1, 1, 1, 1})}}, ""},
        {"no axes", {{"Axes", {}}, {"OutputTensor", floats({1, 2, 3, 4})}}, ""},
        {"an axis twice", {{"Axes", {1, 3, 1, 3, 3}}}, ""},
        {"an axis too far", {{"Axes", {3, 4}}}, "field.axis"},
        {"the output as large as the input", {{"OutputTensor", floats({1, 2, 3, 4})}}, "REDUCE.outputSizes"},
        {"the output reduced further", {{"OutputTensor", floats({1, 1, 1, 1})}}, "REDUCE.outputSizes"},
        {"without the axes", {{"OutputTensor", floats({1, 3})}}, "tensor.sameDimensionCount"},
        {"another type", {{"OutputTensor", tensor(DataType::float16, {1, 1, 3, 1})}}, "REDUCE.outputType"},
        {"a type that no sum has", {{"InputTensor", tensor(DataType::int8, {1, 2, 3, 4})}}, "REDUCE.inputType"},
        {"a function that there is not", {{"Function", 12}}, "field.enumeration"},
    };
    expect_verdicts(reduce(ReduceFunction::sum, DataType::float32, DataType::float32), cases);
    expect_every_rule("REDUCE", {cases});
}

struct Types {
    std::vector<ReduceFunction> functions;
    DataType input;
    /// The output is UINT32 for indices, otherwise it has the input's type.
    std::optional<FeatureLevel> from;
};

TEST(Reduce, TypesOfFunctions) {
    using F = ReduceFunction;
    const std::vector<F> real{F::average, F::l2, F::log_sum, F::log_sum_exp};
    const std::vector<F> magnitudes{F::l1, F::sum_square};
    const std::vector<F> sums{F::sum, F::multiply};
    const std::vector<F> extremes{F::min, F::max};
    const std::vector<F> positions{F::argmin, F::argmax};
    const Types table[] = {
        {real, DataType::float16, FeatureLevel{1, 0}},
        {real, DataType::int32, {}},
        {real, DataType::uint64, {}},
        {magnitudes, DataType::float32, FeatureLevel{1, 0}},
        {magnitudes, DataType::int32, FeatureLevel{5, 0}},
        {magnitudes, DataType::uint64, FeatureLevel{5, 0}},
        {magnitudes, DataType::int16, {}},
        {sums, DataType::uint32, FeatureLevel{2, 1}},
        {sums, DataType::int64, FeatureLevel{5, 0}},
        {sums, DataType::uint8, {}},
        {extremes, DataType::float16, FeatureLevel{1, 0}},
        {extremes, DataType::int32, FeatureLevel{2, 1}},
        {extremes, DataType::uint8, FeatureLevel{3, 0}},
        {extremes, DataType::int16, FeatureLevel{3, 0}},
        {extremes, DataType::uint64, FeatureLevel{5, 0}},
        {positions, DataType::float32, FeatureLevel{1, 0}},
        {positions, DataType::int8, FeatureLevel{2, 1}},
        {positions, DataType::uint16, FeatureLevel{2, 1}},
        {positions, DataType::int64, FeatureLevel{4, 1}},
    };
    for (const Types& row : table) {
        for (const F function : row.functions) {
            const bool is_position = function == F::argmin || function == F::argmax;
            const Descriptor descriptor = reduce(function, row.input, is_position ? DataType::uint32 : row.input);
            EXPECT_EQ(operators::minimum_feature_level(descriptor), row.from)
                << number(function) << " of " << core::name(row.input);
            if (row.from) {
                const auto functions = operators::functions_of(row.input, *row.from);
                EXPECT_NE(std::ranges::find(functions, function), functions.end());
            }
        }
    }
    EXPECT_EQ(operators::functions_of(DataType::int8, FeatureLevel{2, 1}), (std::vector<F>{F::argmax, F::argmin}));
    EXPECT_EQ(operators::functions_of(DataType::float32, FeatureLevel{1, 0}).size(), 12u);
}

TEST(Reduce, TypesOfPositions) {
    const std::pair<DataType, std::optional<FeatureLevel>> table[] = {
        {DataType::uint32, FeatureLevel{1, 0}},
        {DataType::int32, FeatureLevel{3, 0}},
        {DataType::uint64, FeatureLevel{3, 0}},
        {DataType::int64, FeatureLevel{3, 0}},
        {DataType::float32, {}},
        {DataType::uint8, {}},
    };
    for (const auto& [type, from] : table) {
        EXPECT_EQ(operators::minimum_feature_level(reduce(ReduceFunction::argmax, DataType::float32, type)), from)
            << core::name(type);
    }
}

TEST(Positions, Sizes) {
    for (const char* op : {"ARGMIN", "ARGMAX"}) {
        const Descriptor base = describe(op, {{"InputTensor", floats({2, 3})},
                                              {"OutputTensor", tensor(DataType::int32, {2, 1})},
                                              {"Axes", {1}},
                                              {"AxisDirection", 0}});
        const std::string sizes = std::string(op) + ".outputSizes";
        const RuleCase cases[] = {
            {"one axis", {}, ""},
            {"the other axis", {{"Axes", {0}}}, sizes},
            {"no axes", {{"Axes", {}}, {"OutputTensor", tensor(DataType::int32, {2, 3})}}, ""},
            {"an axis too far", {{"Axes", {2}}}, "field.axis"},
            {"neither direction", {{"AxisDirection", 2}}, "field.enumeration"},
        };
        expect_verdicts(base, cases);
        expect_every_rule(op, {cases});
    }
}

TEST(LpNormalization, PAndAxis) {
    const Descriptor base = describe(
        "LP_NORMALIZATION",
        {{"InputTensor", floats({2, 3})}, {"OutputTensor", floats({2, 3})}, {"Axis", 1}, {"Epsilon", -1.0}, {"P", 1}});
    const RuleCase cases[] = {
        {"magnitudes", {}, ""},
        {"squares", {{"P", 2}}, ""},
        {"neither", {{"P", 0}}, "LP_NORMALIZATION.p"},
        {"cubes", {{"P", 3}}, "LP_NORMALIZATION.p"},
        {"an axis too far", {{"Axis", 2}}, "field.axis"},
        {"other sizes", {{"OutputTensor", floats({2, 1})}}, "tensor.sameSizes"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("LP_NORMALIZATION", {cases});
}

TEST(NonzeroCoordinates, Sizes) {
    const auto indices = [](core::Dimensions sizes) { return tensor(DataType::uint32, std::move(sizes)); };
    const Descriptor base = describe("NONZERO_COORDINATES", {{"InputTensor", floats({1, 2, 1, 3})},
                                                             {"OutputCountTensor", indices({1})},
                                                             {"OutputCoordinatesTensor", indices({6, 4})}});
    constexpr std::string_view rule = "NONZERO_COORDINATES.coordinatesSizes";
    const RuleCase cases[] = {
        {"all coordinates", {}, ""},
        {"without the first, whose size is 1", {{"OutputCoordinatesTensor", indices({6, 3})}}, ""},
        {"without the second, whose size is 2", {{"OutputCoordinatesTensor", indices({6, 2})}}, rule},
        {"one coordinate too many", {{"OutputCoordinatesTensor", indices({6, 5})}}, rule},
        {"leading sizes of 1", {{"OutputCoordinatesTensor", indices({1, 1, 1, 6, 4})}}, ""},
        {"a leading size of 2", {{"OutputCoordinatesTensor", indices({2, 6, 4})}}, rule},
        {"a row less", {{"OutputCoordinatesTensor", indices({5, 4})}}, rule},
        {"a row more", {{"OutputCoordinatesTensor", indices({7, 4})}}, rule},
        {"one element has a coordinate",
         {{"InputTensor", floats({1})}, {"OutputCoordinatesTensor", indices({1, 1})}},
         ""},
        {"one of eight, one coordinate",
         {{"InputTensor", floats({1, 1, 1, 1, 1, 1, 1, 1})}, {"OutputCoordinatesTensor", indices({1, 1})}},
         ""},
        {"coordinates in one dimension", {{"OutputCoordinatesTensor", indices({24})}}, "tensor.dimensionCount"},
        {"two counts", {{"OutputCountTensor", indices({2})}}, "tensor.oneElement"},
        {"a count of many dimensions", {{"OutputCountTensor", indices({1, 1, 1, 1, 1, 1, 1, 1})}}, ""},
    };
    expect_verdicts(base, cases);
    expect_every_rule("NONZERO_COORDINATES", {cases});
}

TEST(DynamicQuantizeLinear, Relations) {
    const auto codes = [](core::Dimensions sizes) { return tensor(DataType::uint8, std::move(sizes)); };
    const Descriptor base = describe("DYNAMIC_QUANTIZE_LINEAR", {{"InputTensor", floats({2, 3})},
                                                                 {"OutputTensor", codes({2, 3})},
                                                                 {"OutputScaleTensor", floats({1, 1})},
                                                                 {"OutputZeroPointTensor", codes({1, 1})}});
    const RuleCase cases[] = {
        {"8 bits", {}, ""},
        {"other sizes", {{"OutputTensor", codes({3, 2})}}, "tensor.sameSizes"},
        {"two scales", {{"OutputScaleTensor", floats({1, 2})}}, "tensor.oneElement"},
        {"two zero points", {{"OutputZeroPointTensor", codes({2, 1})}}, "tensor.oneElement"},
        {"a signed zero point", {{"OutputZeroPointTensor", tensor(DataType::int8, {1, 1})}}, "tensor.sameDataType"},
        {"a scale of FLOAT16", {{"OutputScaleTensor", tensor(DataType::float16, {1, 1})}}, "tensor.dataType"},
        {"a scale of one dimension", {{"OutputScaleTensor", floats({1})}}, "tensor.sameDimensionCount"},
    };
    expect_verdicts(base, cases);
}

TEST(TopK, Rules) {
    const Descriptor base = describe("TOP_K", {{"InputTensor", floats({1, 1, 2, 5})},
                                               {"OutputValueTensor", floats({1, 1, 2, 3})},
                                               {"OutputIndexTensor", tensor(DataType::uint32, {1, 1, 2, 3})},
                                               {"Axis", 3},
                                               {"K", 3}});
    const RuleCase cases[] = {
        {"at the first level", {}, "", FeatureLevel{1, 0}},
        {"none", {{"K", 0}}, "TOP_K.k"},
        {"more than there are", {{"K", 6}}, "TOP_K.k"},
        {"all",
         {{"K", 5},
          {"OutputValueTensor", floats({1, 1, 2, 5})},
          {"OutputIndexTensor", tensor(DataType::uint32, {1, 1, 2, 5})}},
         ""},
        {"fewer values", {{"OutputValueTensor", floats({1, 1, 2, 2})}}, "TOP_K.outputSizes"},
        {"fewer indices", {{"OutputIndexTensor", tensor(DataType::uint32, {1, 1, 2, 2})}}, "TOP_K.outputSizes"},
        {"an axis too far", {{"Axis", 4}}, "field.axis"},
    };
    expect_verdicts(base, cases);
    expect_every_rule("TOP_K", {cases});
}

}  // namespace
}  // namespace dmlconform::tests::reduction_test
