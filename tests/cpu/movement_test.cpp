// Tests of engine/cpu/movement beyond what cases can check, because DirectML leaves the behaviour open or
// because tolerances are concerned: out-of-range indices, several updates of one element, conversion of constants,
// sums.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/compare/comparison.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/reference.h"
#include "tests/cpu/random_tensors.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::movement_test {
namespace {

using core::DataType;
using core::Tensor;
using operators::Descriptor;

cpu::Reference reference_of(const Descriptor& descriptor, const std::vector<Tensor>& inputs) {
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    EXPECT_FALSE(verdict) << verdict->message;
    std::vector<const Tensor*> pointers;
    for (const Tensor& input : inputs) {
        pointers.push_back(&input);
    }
    return cpu::compute_reference(descriptor, pointers);
}

template <class T>
std::vector<T> computed(const Descriptor& descriptor, const std::vector<Tensor>& inputs) {
    return values_of<T>(reference_of(descriptor, inputs).outputs.at(0));
}

template <class... Tensors>
std::vector<Tensor> all(Tensors&&... tensors) {
    std::vector<Tensor> result;
    (result.push_back(std::forward<Tensors>(tensors)), ...);
    return result;
}

using Bytes = std::vector<std::uint8_t>;

Tensor byte_tensor(core::Dimensions sizes, const Bytes& values) {
    return tensor_of(bytes(std::move(sizes)), values);
}

// ---- indices that lead outside -----------------------------------------------------------------------------------

template <class Index>
constexpr DataType index_type = std::is_same_v<Index, std::int32_t>    ? DataType::int32
                                : std::is_same_v<Index, std::int64_t>  ? DataType::int64
                                : std::is_same_v<Index, std::uint32_t> ? DataType::uint32
                                                                       : DataType::uint64;

/// Gathers from a dimension of four elements, 10 to 13. The rows before and after it must not be read.
template <class Index>
Bytes gathered(std::string_view op, const std::vector<Index>& indices) {
    const auto count = static_cast<std::uint32_t>(indices.size());
    const core::TensorDesc index_desc = tensor(index_type<Index>, {count});
    const auto input = [] { return byte_tensor({4}, {10, 11, 12, 13}); };
    if (op == "GATHER_ND") {
        return computed<std::uint8_t>(
            describe(op, {{"InputTensor", bytes({1, 4})},
                          {"IndicesTensor", tensor(index_type<Index>, {count, 1})},
                          {"OutputTensor", bytes({1, count})},
                          {"InputDimensionCount", 1},
                          {"IndicesDimensionCount", 2}}),
            all(byte_tensor({1, 4}, {10, 11, 12, 13}), tensor_of(tensor(index_type<Index>, {count, 1}), indices)));
    }
    std::vector<Setting> settings{
        {"InputTensor", bytes({4})}, {"IndicesTensor", index_desc}, {"OutputTensor", bytes({count})}, {"Axis", 0}};
    if (op == "GATHER") {
        settings.emplace_back("IndexDimensions", 1);
    }
    return computed<std::uint8_t>(describe(op, settings), all(input(), tensor_of(index_desc, indices)));
}

TEST(Movement, ReadsStayInTheDimension) {
    constexpr auto int32_min = std::numeric_limits<std::int32_t>::min();
    constexpr auto int64_min = std::numeric_limits<std::int64_t>::min();
    constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();
    constexpr auto uint64_max = std::numeric_limits<std::uint64_t>::max();
    for (const std::string_view op : {"GATHER", "GATHER_ELEMENTS", "GATHER_ND"}) {
        SCOPED_TRACE(op);
        EXPECT_EQ(gathered<std::int32_t>(op, {0, 3, -1, -4, 4, -5, 2147483647, int32_min}),
                  (Bytes{10, 13, 13, 10, 13, 10, 13, 10}));
        EXPECT_EQ(gathered<std::int64_t>(op, {1, -2, 4, -5, 4294967297, -4294967295, int64_max, int64_min}),
                  (Bytes{11, 12, 13, 10, 13, 10, 13, 10}));
        EXPECT_EQ(gathered<std::uint32_t>(op, {2, 4, 4294967295, 2147483648}), (Bytes{12, 13, 13, 13}));
        EXPECT_EQ(gathered<std::uint64_t>(op, {2, 4, 4294967297, uint64_max, uint64_max / 2 + 1}),
                  (Bytes{12, 13, 13, 13, 13}));
    }
}

template <class Index>
Bytes scattered(std::string_view op, const std::vector<Index>& indices) {
    const auto count = static_cast<std::uint32_t>(indices.size());
    Bytes updates(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        updates[i] = static_cast<std::uint8_t>(90 + i);
    }
    if (op == "SCATTER_ND") {
        return computed<std::uint8_t>(
            describe(op, {{"InputTensor", bytes({1, 4})},
                          {"IndicesTensor", tensor(index_type<Index>, {count, 1})},
                          {"UpdatesTensor", bytes({1, count})},
                          {"OutputTensor", bytes({1, 4})},
                          {"InputDimensionCount", 1},
                          {"IndicesDimensionCount", 2}}),
            all(byte_tensor({1, 4}, {10, 11, 12, 13}), tensor_of(tensor(index_type<Index>, {count, 1}), indices),
                byte_tensor({1, count}, updates)));
    }
    return computed<std::uint8_t>(
        describe(op, {{"InputTensor", bytes({4})},
                      {"IndicesTensor", tensor(index_type<Index>, {count})},
                      {"UpdatesTensor", bytes({count})},
                      {"OutputTensor", bytes({4})},
                      {"Axis", 0}}),
        all(byte_tensor({4}, {10, 11, 12, 13}), tensor_of(tensor(index_type<Index>, {count}), indices),
            byte_tensor({count}, updates)));
}

TEST(Movement, UpdatesOutsideAreDropped) {
    for (const std::string_view op : {"SCATTER", "SCATTER_ND"}) {
        SCOPED_TRACE(op);
        EXPECT_EQ(scattered<std::int32_t>(op, {-1, 4, -4, -5}), (Bytes{92, 11, 12, 90}));
        EXPECT_EQ(scattered<std::int64_t>(op, {4294967296, -2, -4294967296, 1}), (Bytes{10, 93, 91, 13}));
        EXPECT_EQ(scattered<std::uint32_t>(op, {4294967295, 4, 2}), (Bytes{10, 11, 92, 13}));
        EXPECT_EQ(scattered<std::uint64_t>(op, {4294967297, 18446744073709551615u, 0}), (Bytes{92, 11, 12, 13}));
    }
}

TEST(Movement, UnpoolingDropsWhatLeadsOutside) {
    const auto indices = tensor(DataType::uint64, {1, 1, 1, 4});
    EXPECT_EQ(computed<std::uint8_t>(describe("MAX_UNPOOLING", {{"InputTensor", bytes({1, 1, 1, 4})},
                                                                {"IndicesTensor", indices},
                                                                {"OutputTensor", bytes({1, 1, 2, 3})}}),
                                     all(byte_tensor({1, 1, 1, 4}, {1, 2, 3, 4}),
                                         tensor_of<std::uint64_t>(indices, {5, 6, 4294967296, 18446744073709551615u}))),
              (Bytes{0, 0, 0, 0, 0, 1}));
}

TEST(Movement, OneHotOutsideIsOffEverywhere) {
    const auto indices = tensor(DataType::int64, {6, 1});
    EXPECT_EQ(computed<std::uint8_t>(describe("ONE_HOT", {{"IndicesTensor", indices},
                                                          {"ValuesTensor", bytes({2, 1})},
                                                          {"OutputTensor", bytes({6, 2})},
                                                          {"Axis", 1}}),
                                     all(tensor_of<std::int64_t>(indices, {1, -2, 2, -3, 4294967296, -4294967295}),
                                         byte_tensor({2, 1}, {5, 7}))),
              (Bytes{5, 7, 7, 5, 5, 5, 5, 5, 5, 5, 5, 5}));
}

TEST(Movement, LengthsEndWithTheSequence) {
    const auto lengths = tensor(DataType::uint64, {4, 1});
    EXPECT_EQ(computed<std::uint8_t>(describe("REVERSE_SUBSEQUENCES", {{"InputTensor", bytes({4, 3})},
                                                                       {"SequenceLengthsTensor", lengths},
                                                                       {"OutputTensor", bytes({4, 3})},
                                                                       {"Axis", 1}}),
                                     all(byte_tensor({4, 3}, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}),
                                         tensor_of<std::uint64_t>(lengths, {2, 4, 4294967297, 18446744073709551615u}))),
              (Bytes{2, 1, 3, 3, 2, 1, 3, 2, 1, 3, 2, 1}));
}

// ---- several updates of one element --------------------------------------------------------------------------------

/// Whether an output passes, even if it differs from the reference's.
bool is_accepted(const cpu::Reference& reference, const core::Tolerance& tolerance, const Bytes& values) {
    const Tensor actual = tensor_of(reference.outputs[0].desc, values);
    return compare::compare(reference.outputs[0], actual, tolerance, &reference.slack[0]).passed();
}

TEST(Movement, AcceptsAnyOfSeveralUpdatesOfAnElement) {
    const auto indices = tensor(DataType::uint32, {4});
    const Descriptor scatter = describe("SCATTER", {{"InputTensor", bytes({4})},
                                                    {"IndicesTensor", indices},
                                                    {"UpdatesTensor", bytes({4})},
                                                    {"OutputTensor", bytes({4})},
                                                    {"Axis", 0}});
    const auto reference =
        reference_of(scatter, all(byte_tensor({4}, {10, 11, 12, 13}), tensor_of<std::uint32_t>(indices, {2, 2, 0, 2}),
                                  byte_tensor({4}, {50, 60, 70, 80})));
    const auto tolerance = cpu::default_tolerance(scatter, scatter.outputs()[0]);
    EXPECT_EQ(core::to_string(tolerance), "exact or another value that may end up there");
    EXPECT_EQ(values_of<std::uint8_t>(reference.outputs[0]), (Bytes{70, 11, 80, 13})) << "the last one is expected";
    EXPECT_TRUE(is_accepted(reference, tolerance, {70, 11, 50, 13}));
    EXPECT_TRUE(is_accepted(reference, tolerance, {70, 11, 60, 13}));
    EXPECT_FALSE(is_accepted(reference, tolerance, {70, 11, 70, 13})) << "an update of another element";
    EXPECT_FALSE(is_accepted(reference, tolerance, {70, 11, 55, 13})) << "between two updates";
    EXPECT_FALSE(is_accepted(reference, tolerance, {70, 11, 12, 13})) << "none of them";
    EXPECT_FALSE(is_accepted(reference, tolerance, {10, 11, 80, 13}))
        << "an element with a single update was not written";
}

TEST(Movement, SlicesOfUpdatesAreRightElementByElement) {
    const auto indices = tensor(DataType::int32, {2, 1});
    const Descriptor scatter = describe("SCATTER_ND", {{"InputTensor", bytes({3, 2})},
                                                       {"IndicesTensor", indices},
                                                       {"UpdatesTensor", bytes({2, 2})},
                                                       {"OutputTensor", bytes({3, 2})},
                                                       {"InputDimensionCount", 2},
                                                       {"IndicesDimensionCount", 2}});
    const auto reference =
        reference_of(scatter, all(byte_tensor({3, 2}, {1, 2, 3, 4, 5, 6}), tensor_of<std::int32_t>(indices, {1, -2}),
                                  byte_tensor({2, 2}, {50, 60, 70, 80})));
    const auto tolerance = cpu::default_tolerance(scatter, scatter.outputs()[0]);
    EXPECT_TRUE(is_accepted(reference, tolerance, {1, 2, 70, 80, 5, 6}));
    EXPECT_TRUE(is_accepted(reference, tolerance, {1, 2, 50, 80, 5, 6}));
    EXPECT_FALSE(is_accepted(reference, tolerance, {1, 2, 60, 80, 5, 6}));
}

// ---- constants ---------------------------------------------------------------------------------------------------

template <class T>
T padded(DataType type, float value) {
    const Descriptor padding = describe("PADDING", {{"InputTensor", tensor(type, {1})},
                                                    {"OutputTensor", tensor(type, {2})},
                                                    {"PaddingValue", operators::FieldValue(value)},
                                                    {"StartPadding", {1}},
                                                    {"EndPadding", {0}}});
    return computed<T>(padding, all(tensor_of<T>(tensor(type, {1}), {T{}}))).at(0);
}

TEST(Movement, ConstantsAreConverted) {
    EXPECT_EQ(padded<std::int8_t>(DataType::int8, 10.6F), 10);
    EXPECT_EQ(padded<std::int8_t>(DataType::int8, -10.6F), -10);
    EXPECT_EQ(padded<std::int8_t>(DataType::int8, 300), 127);
    EXPECT_EQ(padded<std::uint8_t>(DataType::uint8, -1), 0);
    EXPECT_EQ(padded<std::uint16_t>(DataType::uint16, NAN), 0);
    EXPECT_EQ(padded<std::int32_t>(DataType::int32, INFINITY), 2147483647);
    EXPECT_EQ(padded<std::int64_t>(DataType::int64, 5e9F), 5000000000);
    EXPECT_EQ(padded<std::uint64_t>(DataType::uint64, 1e20F), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(padded<std::uint16_t>(DataType::float16, 65519), 0x7bff);
    EXPECT_EQ(padded<std::uint16_t>(DataType::float16, 65520), 0x7c00);
    EXPECT_EQ(padded<std::uint16_t>(DataType::float16, 1 + 0x1p-11F), 0x3c00) << "a tie goes to the even one";
    EXPECT_EQ(padded<std::uint16_t>(DataType::float16, 1 + 0x3p-11F), 0x3c02);
    EXPECT_EQ(padded<std::uint32_t>(DataType::float32, std::bit_cast<float>(0xffc12345u)), 0xffc12345u);
    EXPECT_EQ(padded<double>(DataType::float64, 0.1F), double{0.1F});
}

// ---- sums --------------------------------------------------------------------------------------------------------

Descriptor folding(DataType type) {
    return describe("FOLD", {{"InputTensor", tensor(type, {1, 2, 2})},
                             {"OutputTensor", tensor(type, {1, 1, 3})},
                             {"WindowSizes", {2}},
                             {"Strides", {1}},
                             {"Dilations", {1}},
                             {"StartPadding", {0}},
                             {"EndPadding", {0}}});
}

/// Returns the middle element, which is the sum of the first block's second element and the second block's first.
template <class T>
T folded(DataType type, T first, T second) {
    return computed<T>(folding(type), all(tensor_of<T>(tensor(type, {1, 2, 2}), {T(1), second, first, T(1)}))).at(1);
}

TEST(Movement, SumsOfIntegers) {
    EXPECT_EQ(folded<std::int8_t>(DataType::int8, 100, 100), 127);
    EXPECT_EQ(folded<std::int8_t>(DataType::int8, -100, -100), -128);
    EXPECT_EQ(folded<std::uint8_t>(DataType::uint8, 200, 100), 255);
    EXPECT_EQ(folded<std::int16_t>(DataType::int16, 30000, 30000), 32767);
    EXPECT_EQ(folded<std::int32_t>(DataType::int32, 2147483647, 1), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(folded<std::uint32_t>(DataType::uint32, 4294967295, 2), 1u);
    EXPECT_EQ(folded<std::int64_t>(DataType::int64, std::numeric_limits<std::int64_t>::max(), 1),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(folded<std::int32_t>(DataType::int32, 16777217, 16777219), 33554436);
}

/// The middle element has the terms 1, x and -x, whose FP32 sum is 0 or 1.
TEST(Movement, SumsInAnyOrder) {
    const Descriptor fold =
        with(folding(DataType::float32),
             {{"InputTensor", real({1, 3, 3})}, {"OutputTensor", real({1, 1, 5})}, {"WindowSizes", {3}}});
    const auto reference =
        reference_of(fold, all(tensor_of<float>(real({1, 3, 3}), {1, 1, 1e8F, 1, 1, 1, -1e8F, 1, 1})));
    const auto& slack = reference.slack[0];
    EXPECT_EQ(values_of<float>(reference.outputs[0])[2], 1);
    EXPECT_GE(slack.below[2], 1);
    EXPECT_LE(slack.below[2], 64) << "two roundings of 2e8";
    EXPECT_EQ(slack.below[0], 0) << "nothing is added to the first element";
    EXPECT_LE(slack.below[1], 0x1p-21) << "of 2";
}

TEST(Movement, SequencesAreComputedInFp32) {
    const Descriptor sequence =
        describe("FILL_VALUE_SEQUENCE",
                 {{"OutputTensor", tensor(DataType::float32, {16})},
                  {"ValueDataType", 1},
                  {"ValueStart", operators::FieldValue(operators::ScalarUnion{std::bit_cast<std::uint32_t>(0.1F)})},
                  {"ValueDelta", operators::FieldValue(operators::ScalarUnion{std::bit_cast<std::uint32_t>(0.1F)})}});
    const auto reference = reference_of(sequence, {});
    const auto values = values_of<float>(reference.outputs[0]);
    bool differs = false;
    for (std::size_t k = 0; k < values.size(); ++k) {
        // Measured on DirectML 1.15.4: it rounds the product and the sum.
        const float other = 0.1F + static_cast<float>(k) * 0.1F;
        differs = differs || other != values[k];
        EXPECT_LE(double{values[k]} - reference.slack[0].below[k], double{other});
        EXPECT_GE(double{values[k]} + reference.slack[0].above[k], double{other});
        EXPECT_LE(reference.slack[0].below[k] + reference.slack[0].above[k], 4 * 0x1p-24 * double{values[k]} + 0x1p-24)
            << "element " << k;
    }
    EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace dmlconform::tests::movement_test
