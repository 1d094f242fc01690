// Tests of engine/cases/initialiser: lists, constants and sequences, and the memory addresses of their elements.
#include "engine/cases/initialiser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/cases/filling.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::initialiser_test {
namespace {

using core::DataType;
using core::TensorDesc;

/// A layout that may be illegal.
TensorDesc layout(DataType type, core::Dimensions sizes) {
    TensorDesc desc;
    desc.data_type = type;
    desc.sizes = std::move(sizes);
    desc.total_bytes = core::minimum_total_bytes(desc).value_or(0);
    return desc;
}

struct ValuesRow {
    DataType type;
    core::Dimensions sizes;
    std::string_view text;
    std::string_view elements;
};

TEST(Initialiser, Values) {
    const ValuesRow rows[] = {
        {DataType::float32, {3}, R"([1, 2.5, "nan"])", "1 2.5 nan"},
        {DataType::float32, {2, 2}, "[1, 2, 3, 4]", "1 2 3 4"},
        {DataType::float32, {2, 2}, "[[1, 2], [3, 4]]", "1 2 3 4"},
        {DataType::int8, {1, 2, 3}, "[[[1, 2, 3], [4, 5, 6]]]", "1 2 3 4 5 6"},
        {DataType::int64, {2, 1, 2}, "[[[1, 2]], [[3, 4]]]", "1 2 3 4"},
        {DataType::float16, {2}, R"(["-inf", "0x0001"])", "-inf 5.9605e-08"},
        {DataType::float64, {1}, "[0.1]", "0.1"},
        {DataType::uint32, {}, "[7]", "7"},  // no dimensions: one element
        // Constants.
        {DataType::float32, {2, 2}, R"({"value": 3})", "3 3 3 3"},
        {DataType::float16, {2}, R"({"value": "nan"})", "nan nan"},
        {DataType::int8, {3}, R"({"value": -128})", "-128 -128 -128"},
        {DataType::uint16, {2}, R"({"value": "0xffff"})", "65535 65535"},
        {DataType::uint64, {2}, R"({"value": 18446744073709551615})", "18446744073709551615 18446744073709551615"},
        // 4-bit types.
        {DataType::int4, {3}, "[-8, 7, -1]", "-8 7 -1"},
        {DataType::uint4, {2, 3}, "[[0, 15, 1], [2, 3, 4]]", "0 15 1 2 3 4"},
        {DataType::int4, {3}, R"({"value": -3})", "-3 -3 -3"},
        {DataType::uint4, {3}, R"({"value": "0xc"})", "12 12 12"},
        {DataType::int4, {16}, R"({"start": -8, "step": 1})", "-8 -7 -6 -5 -4 -3 -2 -1 0 1 2 3 4 5 6 7"},
        {DataType::uint4, {3}, R"({"start": 15, "step": -7})", "15 8 1"},
        {DataType::float32, {4}, R"({"start": 1, "step": 1})", "1 2 3 4"},
        {DataType::float32, {4}, R"({"valueStart": 1, "valueDelta": 0.5})", "1 1.5 2 2.5"},
        {DataType::float32, {2}, R"({"start": 1, "valueDelta": 2})", "1 3"},
        {DataType::float32, {2}, R"({"valueStart": 1, "step": 2})", "1 3"},
        {DataType::float32, {3}, R"({"start": 1, "step": -1})", "1 0 -1"},
        // every element is rounded once; steps are not summed up
        {DataType::float32, {4}, R"({"start": 0, "step": 0.1})", "0 0.1 0.2 0.3"},
        {DataType::float32, {2}, R"({"start": 16777216, "step": 1})", "16777216 16777216"},
        {DataType::float16, {3}, R"({"start": 65472, "step": 16})", "65472 65472 65504"},  // ties to even
        {DataType::float64, {2}, R"({"start": -0.25, "step": 1e-3})", "-0.25 -0.249"},
        {DataType::int8, {2}, R"({"start": -128, "step": 255})", "-128 127"},
        {DataType::int8, {2}, R"({"start": 127, "step": -255})", "127 -128"},
        {DataType::int8, {1}, R"({"start": 127, "step": 1})", "127"},
        {DataType::int8, {1}, R"({"start": 0, "step": 18446744073709551615})", "0"},
        {DataType::int8, {3}, R"({"start": 5, "step": 0})", "5 5 5"},
        {DataType::uint8, {3}, R"({"start": 255, "step": -127})", "255 128 1"},
        {DataType::uint8, {4}, R"({"start": 0, "step": 85})", "0 85 170 255"},
        {DataType::int16, {2, 2}, R"({"start": 32764, "step": 1})", "32764 32765 32766 32767"},
        {DataType::uint16, {2}, R"({"start": 65535, "step": -65535})", "65535 0"},
        {DataType::int32, {2}, R"({"start": -2147483648, "step": 4294967295})", "-2147483648 2147483647"},
        {DataType::uint32, {2}, R"({"start": 4294967295, "step": -4294967295})", "4294967295 0"},
        {DataType::int64,
         {2},
         R"({"start": -9223372036854775808, "step": 18446744073709551615})",
         "-9223372036854775808 9223372036854775807"},
        {DataType::int64,
         {3},
         R"({"start": 9223372036854775807, "step": -9223372036854775807})",
         "9223372036854775807 0 -9223372036854775807"},
        {DataType::uint64, {2}, R"({"start": 0, "step": 18446744073709551615})", "0 18446744073709551615"},
        {DataType::uint64,
         {3},
         R"({"start": 18446744073709551615, "step": -9223372036854775807})",
         "18446744073709551615 9223372036854775808 1"},
        {DataType::int32, {2}, R"({"start": 1.0, "step": 2e0})", "1 3"},
    };
    for (const ValuesRow& row : rows) {
        SCOPED_TRACE(fmt::format("{} {}", core::name(row.type), row.text));
        const auto desc = layout(row.type, row.sizes);
        const auto read = initialiser(row.text, desc);
        ASSERT_TRUE(read.value.has_value()) << all_text(read.problems);
        EXPECT_TRUE(read.problems.empty());
        core::Tensor tensor = blank_tensor(desc);
        ASSERT_TRUE(read.value->fill(tensor).has_value());
        EXPECT_EQ(elements(tensor), row.elements);
    }
}

struct ErrorRow {
    DataType type;
    core::Dimensions sizes;
    std::string_view text;
    std::vector<std::string> problems;  // as returned by short_text, or beginnings of that
};

TEST(Initialiser, Refused) {
    const std::string forms =
        R"([use a list of elements, {"value": …}, {"start": …, "step": …}, {"random": …} or {"file": …}])";
    const std::string sequence = R"(a sequence has a "start" and a "step", and nothing else)";
    const ErrorRow rows[] = {
        {DataType::float32, {2, 2}, "[1, 2, 3]", {"1:1 : 3 elements for [2,2] [it takes 4]"}},
        {DataType::float32, {2, 2}, "[1, 2, 3, 4, 5]", {"1:1 : 5 elements for [2,2] [it takes 4]"}},
        {DataType::float32, {2}, "[]", {"1:1 : 0 elements for [2] [it takes 2]"}},
        {DataType::float32,
         {0xffffffff, 0xffffffff, 0xffffffff},
         "[1]",
         {"1:1 : 1 elements for [4294967295,4294967295,4294967295] [that product does not fit 64 bits]"}},
        {DataType::float32, {2, 2}, "[[1, 2], [3]]", {"1:10 /1: 1 elements for dimension 1 of [2,2] [it takes 2]"}},
        {DataType::float32, {2, 2}, "[[1, 2]]", {"1:1 : 1 elements for dimension 0 of [2,2] [it takes 2]"}},
        {DataType::float32,
         {1, 2, 2},
         "[[1, 2], [3, 4]]",
         {"1:1 : 2 elements for dimension 0 of [1,2,2] [it takes 1]"}},
        {DataType::float32,
         {2},
         "[[1, 2]]",
         {"1:1 : 1 elements for dimension 0 of [2] [it takes 2]",
          "1:2 /0: expected a value of FLOAT32, found an array"}},
        {DataType::float32, {}, "[[1]]", {"1:1 : nested deeper than the 0 dimensions"}},
        {DataType::float32, {2, 2}, "[[1, 2], 3]", {"1:10 /1: expected an array of dimension 1, found a number [nest"}},
        {DataType::float32, {2}, "[1, [2]]", {"1:5 /1: expected a value of FLOAT32, found an array"}},
        // All bad elements are named.
        {DataType::int8,
         {4},
         R"([128, 1, 0.5, "x"])",
         {"1:2 /0: 128 is out of the range of INT8 (-128 to 127)", "1:10 /2: 0.5 is not an integer",
          "1:15 /3: \"x\" is not a value of INT8"}},
        {DataType::int8, {2}, R"({"value": 200})", {"1:11 /value: 200 is out of the range of INT8"}},
        {DataType::float16, {2}, R"({"value": 1e5})", {"1:11 /value: 100000 is out of the range of FLOAT16"}},
        {DataType::float32, {2}, "{}", {"1:1 : this is not a data initialiser " + forms}},
        {DataType::float32, {2}, R"({"valeu": 1})", {"1:1 : this is not a data initialiser [did you mean `value`?]"}},
        {DataType::float32,
         {2},
         R"({"radnom": "bits"})",
         {"1:1 : this is not a data initialiser [did you mean `random`?]"}},
        {DataType::float32,
         {2},
         R"({"value": 1, "start": 1, "step": 1})",
         {R"(1:14 /start: unknown key "start" in a constant)", R"(1:26 /step: unknown key "step" in a constant)"}},
        {DataType::float32, {2}, R"({"value": 1, "seed": 1})", {R"(1:14 /seed: unknown key "seed" in a constant)"}},
        {DataType::float32, {2}, R"({"start": 1})", {"1:1 : " + sequence}},
        {DataType::float32, {2}, R"({"step": 1})", {"1:1 : " + sequence}},
        {DataType::float32, {2}, R"({"start": 1, "valueStart": 1, "step": 1})", {"1:1 : " + sequence}},
        {DataType::float32, {2}, R"({"start": 1, "step": 1, "valueDelta": 1})", {"1:1 : " + sequence}},
        {DataType::float32, {2}, R"({"start": 1, "valueStart": 1})", {"1:1 : " + sequence}},
        {DataType::float32,
         {2},
         R"({"start": 1, "setp": 1})",
         {"1:1 : " + sequence, R"(1:14 /setp: unknown key "setp" in a sequence [did you mean `step`?])"}},
        {DataType::float32,
         {2},
         R"({"start": 1, "step": 1, "seed": 1})",
         {"1:1 : " + sequence, R"(1:25 /seed: unknown key "seed" in a sequence)"}},
        {DataType::float32,
         {2},
         R"({"start": "one", "step": 1})",
         {"1:11 /start: start and step must be numbers for FLOAT32"}},
        {DataType::float32, {2}, R"({"start": "inf", "step": 1})", {"1:11 /start: start and step must be numbers"}},
        {DataType::float32, {2}, R"({"start": 0, "step": "0x1"})", {"1:22 /step: start and step must be numbers"}},
        {DataType::float32, {2}, R"({"start": 0, "step": null})", {"1:22 /step: start and step must be numbers"}},
        {DataType::float32,
         {2},
         R"({"start": 1e39, "step": 0})",
         {"1:11 /start: 1e+39 is out of the range of FLOAT32"}},
        {DataType::float32,
         {2},
         R"({"start": 3e38, "step": 1e38})",
         {"1:25 /step: the sequence leaves the range of FLOAT32 within 2 elements"}},
        {DataType::float32, {2}, R"({"start": 0, "step": 1e39})", {"1:22 /step: the sequence leaves the range"}},
        {DataType::float16,
         {3},
         R"({"start": 65504, "step": 8})",
         {"1:26 /step: the sequence leaves the range of FLOAT16 within 3 elements"}},
        {DataType::float64,
         {3},
         R"({"start": 1e308, "step": 1e308})",
         {"1:26 /step: the sequence leaves the range of FLOAT64"}},
        {DataType::float64,
         {3},
         R"({"start": -1e308, "step": -1e308})",
         {"1:27 /step: the sequence leaves the range of FLOAT64"}},
        {DataType::int8,
         {4},
         R"({"start": 1, "step": -50})",
         {"1:22 /step: the sequence leaves the range of INT8 within 4 elements (-128 to 127)"}},
        {DataType::int8, {2}, R"({"start": 127, "step": 1})", {"1:24 /step: the sequence leaves"}},
        {DataType::int8, {2}, R"({"start": -128, "step": -1})", {"1:25 /step: the sequence leaves"}},
        {DataType::int8, {2}, R"({"start": -127, "step": 255})", {"1:25 /step: the sequence leaves"}},
        {DataType::uint8, {2}, R"({"start": 0, "step": -1})", {"1:22 /step: the sequence leaves"}},
        {DataType::uint8, {2}, R"({"start": 0, "step": 256})", {"1:22 /step: the sequence leaves"}},
        {DataType::int64, {2}, R"({"start": 9223372036854775807, "step": 1})", {"1:40 /step: the sequence leaves"}},
        {DataType::int64, {2}, R"({"start": -9223372036854775808, "step": -1})", {"1:41 /step: the sequence leaves"}},
        {DataType::int64, {3}, R"({"start": 0, "step": 9223372036854775807})", {"1:22 /step: the sequence leaves"}},
        {DataType::uint64, {2}, R"({"start": 1, "step": 18446744073709551615})", {"1:22 /step: the sequence leaves"}},
        {DataType::uint64, {3}, R"({"start": 0, "step": 18446744073709551615})", {"1:22 /step: the sequence leaves"}},
        {DataType::int8, {1}, R"({"start": 128, "step": 0})", {"1:11 /start: 128 is out of the range of INT8"}},
        {DataType::int32,
         {2},
         R"({"start": 0, "step": 0.5})",
         {"1:22 /step: start and step must be integers for INT32"}},
        {DataType::int32,
         {2},
         R"({"start": 0.5, "step": 1})",
         {"1:11 /start: start and step must be integers for INT32"}},
        {DataType::int32, {2}, R"({"start": "0x1", "step": 1})", {"1:11 /start: start and step must be integers"}},
        // Other kinds of JSON values.
        {DataType::float32, {2}, "5", {"1:1 : expected a data initialiser, found a number " + forms}},
        {DataType::float32, {2}, R"("nan")", {"1:1 : expected a data initialiser, found a string " + forms}},
        {DataType::float32, {2}, "null", {"1:1 : expected a data initialiser, found null " + forms}},
        {DataType::float32, {2}, "true", {"1:1 : expected a data initialiser, found a boolean " + forms}},
        // 4-bit types.
        {DataType::uint4, {2}, "[1, 16]", {"1:5 /1: 16 is out of the range of UINT4 (0 to 15)"}},
        {DataType::int4, {1}, R"({"value": 8})", {"1:11 /value: 8 is out of the range of INT4 (-8 to 7)"}},
        {DataType::int4, {17}, R"({"start": -8, "step": 1})", {"1:23 /step: the sequence leaves the range of INT4"}},
        {DataType::unknown, {2}, "[1, 2]", {"1:1 : data of type UNKNOWN is not supported"}},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(fmt::format("{} {}", core::name(row.type), row.text));
        const auto read = initialiser(row.text, layout(row.type, row.sizes));
        EXPECT_FALSE(read.value.has_value());
        EXPECT_TRUE(begin_with(read.problems, row.problems));
    }
}

TEST(Initialiser, ARowThatIsNestedOtherwiseIsOneMistake) {
    const auto desc = layout(DataType::int8, {2, 2, 3});
    const std::pair<const char*, const char*> rows[] = {
        {"[[[1,2,3],[4,5,6]],[7,8,9,10,11,12]]", "/1: 6 elements for dimension 1 of [2,2,3] [it takes 2]"},
        {"[[[1,2,3],[4,5]],[[7,8,9],[10,11]]]", "/0/1: 2 elements for dimension 2 of [2,2,3]"},
        {"[[[1,2,3]],[[7,8,9]]]", "/0: 1 elements for dimension 1 of [2,2,3]"},
    };
    for (const auto& [text, message] : rows) {
        EXPECT_TRUE(begin_with(initialiser(text, desc).problems, {message})) << text;
    }
}

TEST(Initialiser, HugeTensorsAreNotAllocated) {
    // The sizes are not trusted: reading must not allocate memory for them.
    const auto desc = layout(DataType::float32, {0xffffffff, 0xffffffff});
    EXPECT_FALSE(initialiser("[1]", desc).value.has_value());
    EXPECT_TRUE(initialiser(R"({"value": 1})", desc).value.has_value());
    EXPECT_TRUE(initialiser(R"({"start": 1, "step": 0})", desc).value.has_value());
    EXPECT_FALSE(initialiser(R"({"start": 1, "step": 4294967296})", layout(DataType::int64, {0xffffffff})).value);
}

std::vector<unsigned> bytes_of(const core::Tensor& tensor) {
    std::vector<unsigned> bytes;
    for (const std::byte byte : tensor.buffer.bytes()) {
        bytes.push_back(std::to_integer<unsigned>(byte));
    }
    return bytes;
}

TEST(Initialiser, BytesThatBelongToNoElementAreSet) {
    EXPECT_EQ(bytes_of(filled("[1, 2, 3]", tensor(DataType::uint8, {3}))), (std::vector<unsigned>{1, 2, 3, 0xff}));
    TensorDesc larger = tensor(DataType::uint16, {2});
    larger.total_bytes = 8;
    for (const char* text : {"[1, 2]", R"({"start": 1, "step": 1})"}) {
        EXPECT_EQ(bytes_of(filled(text, larger)), (std::vector<unsigned>{1, 0, 2, 0, 0xff, 0xff, 0xff, 0xff}));
    }
    EXPECT_EQ(bytes_of(filled(R"({"value": 7})", tensor(DataType::uint8, {2, 2}, {4, 2}))),
              (std::vector<unsigned>{7, 0xff, 7, 0xff, 7, 0xff, 7, 0xff}));
    // The size in bytes need not be a multiple of the element's size.
    TensorDesc odd = tensor(DataType::uint32, {1});
    odd.total_bytes = 7;
    EXPECT_EQ(bytes_of(filled("[1]", odd)), (std::vector<unsigned>{1, 0, 0, 0, 0xff, 0xff, 0xff}));
}

TEST(Initialiser, OfHalfBytesTheFirstIsInTheLowerHalf) {
    for (const char* text : {"[1, 2, 3]", R"({"start": 1, "step": 1})"}) {
        EXPECT_EQ(bytes_of(filled(text, tensor(DataType::uint4, {3}))),
                  (std::vector<unsigned>{0x21, 0xf3, 0xff, 0xff}));
    }
    EXPECT_EQ(bytes_of(filled(R"({"value": -2})", tensor(DataType::int4, {3}))),
              (std::vector<unsigned>{0xee, 0xfe, 0xff, 0xff}));
    // Every second element is a gap.
    EXPECT_EQ(bytes_of(filled("[1, 2, 3]", tensor(DataType::uint4, {3}, {2}))),
              (std::vector<unsigned>{0xf1, 0xf2, 0xf3, 0xff}));
    EXPECT_EQ(bytes_of(filled("[1, 2, 3, 4, 5, 6]", tensor(DataType::uint4, {2, 3}, {1, 2}))),
              (std::vector<unsigned>{0x41, 0x52, 0x63, 0xff}));
    const auto random = filled(R"({"random": "bits", "seed": 3})", tensor(DataType::uint4, {16}));
    EXPECT_EQ(elements(random), elements(filled(R"({"random": "bits", "seed": 3})", tensor(DataType::uint4, {16}))));
    EXPECT_GT(std::ranges::count(elements(random), ' '), 14);
}

TEST(Initialiser, StridedTensorsAreFilledInLogicalOrder) {
    // Transposed: elements are in the order of coordinates, not of memory.
    EXPECT_EQ(bytes_of(filled("[1, 2, 3, 4, 5, 6]", tensor(DataType::uint8, {2, 3}, {1, 2}))),
              (std::vector<unsigned>{1, 4, 2, 5, 3, 6, 0xff, 0xff}));
    EXPECT_EQ(bytes_of(filled(R"({"start": 1, "step": 1})", tensor(DataType::uint8, {2, 3}, {1, 2}))),
              (std::vector<unsigned>{1, 4, 2, 5, 3, 6, 0xff, 0xff}));
    const auto type_wide = filled(R"({"start": 10, "step": 10})", tensor(DataType::int64, {2, 2, 2}, {16, 1, 4}));
    EXPECT_EQ(elements(type_wide), "10 20 30 40 50 60 70 80");
}

TEST(Initialiser, OfElementsThatShareMemoryTheFirstCounts) {
    // Overlapping elements: (0,1) and (1,0) share an address.
    const auto overlapping = tensor(DataType::uint8, {2, 2}, {1, 1});
    EXPECT_EQ(bytes_of(filled("[1, 2, 3, 4]", overlapping)), (std::vector<unsigned>{1, 2, 4, 0xff}));
    EXPECT_EQ(bytes_of(filled(R"({"start": 1, "step": 1})", overlapping)), (std::vector<unsigned>{1, 2, 4, 0xff}));
    // With a stride of 0, several values of a sequence share an address; the first one is kept.
    EXPECT_EQ(elements(filled(R"({"start": 1, "step": 1})", tensor(DataType::float32, {2, 3}, {1, 0}))), "1 1 1 4 4 4");
    EXPECT_EQ(elements(filled(R"({"start": 1, "step": 1})", tensor(DataType::float32, {2, 3}, {0, 1}))), "1 2 3 1 2 3");
}

TEST(Initialiser, ListsForRepeatedElementsMustAgree) {
    struct Row {
        core::Dimensions sizes;
        core::Dimensions strides;
        std::string_view text;
        std::string_view problem;  // empty if accepted
    };
    const Row rows[] = {
        {{2, 3}, {0, 1}, "[1, 2, 3, 1, 2, 3]", ""},
        {{2, 3}, {0, 1}, "[[1, 2, 3], [1, 2, 3]]", ""},
        {{2, 3}, {0, 1}, "[1, 2, 3, 1, 2, 4]", "elements 2 and 5 differ, but a stride of 0 makes them one"},
        {{2, 3}, {1, 0}, "[1, 1, 1, 2, 2, 2]", ""},
        {{2, 3}, {1, 0}, "[1, 1, 1, 2, 2, 3]", "elements 3 and 5 differ, but a stride of 0 makes them one"},
        {{2, 2}, {0, 0}, "[1, 1, 1, 2]", "elements 0 and 3 differ, but a stride of 0 makes them one"},
        {{2, 2, 2}, {4, 0, 1}, "[1, 2, 1, 2, 3, 4, 3, 4]", ""},
        {{2, 2, 2}, {4, 0, 1}, "[1, 2, 1, 2, 3, 4, 4, 4]", "elements 4 and 6 differ, but a stride of 0 makes them one"},
        {{1, 3}, {0, 1}, "[1, 2, 3]", ""},
        {{2}, {0}, R"(["nan", "nan"])", ""},
        {{2}, {0}, R"(["0x7fc00000", "0x7fc00001"])", "elements 0 and 1 differ"},
        {{2}, {0}, "[0.0, -0.0]", "elements 0 and 1 differ"},
        {{2}, {0}, R"([1, "x"])", "\"x\" is not a value"},
    };
    for (const Row& row : rows) {
        const auto desc = tensor(DataType::float32, row.sizes, row.strides);
        const auto read = initialiser(row.text, desc);
        EXPECT_EQ(read.value.has_value(), row.problem.empty()) << row.text;
        EXPECT_TRUE(contains(all_text(read.problems), row.problem)) << row.text;
        EXPECT_EQ(read.problems.empty(), row.problem.empty()) << row.text;
    }
}

TEST(Initialiser, StridesThatContradictTheSizesAreNotFollowed) {
    // Illegal layouts are possible here, because validation comes later.
    TensorDesc desc = layout(DataType::float32, {2, 2});
    desc.strides = core::Dimensions{0};
    EXPECT_TRUE(initialiser("[1, 2, 3, 4]", desc).value.has_value());
    TensorDesc empty = layout(DataType::float32, {2, 0});
    empty.strides = core::Dimensions{0, 1};
    EXPECT_TRUE(initialiser("[]", empty).value.has_value());
}

}  // namespace
}  // namespace dmlconform::tests::initialiser_test
