// Tests of engine/cases/tensor_desc_reader: the members of DML_BUFFER_TENSOR_DESC in all their spellings.
#include "engine/cases/tensor_desc_reader.h"

#include <gtest/gtest.h>

#include "tests/cases/reading.h"

namespace dmlconform::tests::tensor_desc_reader_test {
namespace {

using cases::JsonValue;
using cases::ProblemSink;
using core::TensorDesc;

Reading<TensorDesc> tensor_desc(std::string_view text) {
    return reading(
        text, [](const JsonValue& value, ProblemSink& problems) { return cases::read_tensor_desc(value, problems); });
}

struct Row {
    std::string_view text;
    std::string_view desc;  // as printed by core::to_string
};

TEST(TensorDescReader, Forms) {
    const Row rows[] = {
        {R"({"DataType": "FLOAT32", "Sizes": [1,1,4,4]})", "FLOAT32 [1,1,4,4]"},
        {R"({"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [1,1,4,4]})", "FLOAT32 [1,1,4,4]"},
        {R"({"Sizes": [4294967295], "DataType": "UINT8"})", "UINT8 [4294967295]"},
        {R"({"DataType": "INT4", "Sizes": [3]})", "INT4 [3]"},
        // accepted here because it is an enumerator; validation rejects it later
        {R"({"DataType": "UNKNOWN", "Sizes": [3]})", "UNKNOWN [3]"},
        {R"({"DataType": "FLOAT32", "Sizes": []})", "FLOAT32 []"},
        {R"({"DataType": "FLOAT32", "Sizes": [0]})", "FLOAT32 [0]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2.0, 1e1]})", "FLOAT32 [2,10]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Strides": [3,1]})", "FLOAT32 [2,3] strides [3,1]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Strides": [0,0]})", "FLOAT32 [2,3] strides [0,0]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Strides": null})", "FLOAT32 [2,3]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "DimensionCount": 2})", "FLOAT32 [2,3]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Flags": "NONE"})", "FLOAT32 [2,3]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Flags": "OWNED_BY_DML"})", "FLOAT32 [2,3] OWNED_BY_DML"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Flags": "DML_TENSOR_FLAG_NONE"})", "FLOAT32 [2,3]"},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Flags": "DML_TENSOR_FLAG_OWNED_BY_DML"})",
         "FLOAT32 [2,3] OWNED_BY_DML"},
        {R"({"DataType": "INT8", "Sizes": [3], "TotalTensorSizeInBytes": 4})", "INT8 [3]"},
        {R"({"DataType": "INT8", "Sizes": [3], "TotalTensorSizeInBytes": 3})", "INT8 [3] total 3 bytes"},
        {R"({"DataType": "INT8", "Sizes": [3], "TotalTensorSizeInBytes": 18446744073709551615})",
         "INT8 [3] total 18446744073709551615 bytes"},
        {R"({"DataType": "INT8", "Sizes": [3], "GuaranteedBaseOffsetAlignment": 16})", "INT8 [3] aligned 16"},
        {R"({"DataType": "INT8", "Sizes": [3], "GuaranteedBaseOffsetAlignment": 0})", "INT8 [3]"},
        {R"({"Type": "BUFFER", "Desc": {"DataType": "INT8", "Sizes": [3]}})", "INT8 [3]"},
        {R"({"Type": "DML_TENSOR_TYPE_BUFFER", "Desc": {"DataType": "INT8", "Sizes": [3], "Strides": [2]}})",
         "INT8 [3] strides [2]"},
        // In the form of DxDispatch models.
        {R"({"Type": "DML_TENSOR_TYPE_BUFFER",
             "Desc": {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT16", "Flags": "DML_TENSOR_FLAG_NONE",
                      "DimensionCount": 4, "Sizes": [1,2,3,4], "Strides": [24,12,4,1], "TotalTensorSizeInBytes": 48,
                      "GuaranteedBaseOffsetAlignment": 0}})",
         "FLOAT16 [1,2,3,4] strides [24,12,4,1]"},
    };
    for (const Row& row : rows) {
        const auto read = tensor_desc(row.text);
        ASSERT_TRUE(read.value.has_value()) << row.text << "\n" << all_text(read.problems);
        EXPECT_TRUE(read.problems.empty()) << all_text(read.problems);
        EXPECT_EQ(core::to_string(*read.value), row.desc) << row.text;
    }
}

TEST(TensorDescReader, TheTotalSizeIsTheSmallestUnlessGiven) {
    const std::pair<std::string_view, std::uint64_t> rows[] = {
        {R"({"DataType": "INT8", "Sizes": [5]})", 8},
        {R"({"DataType": "FLOAT16", "Sizes": [3]})", 8},
        {R"({"DataType": "FLOAT32", "Sizes": [2,3], "Strides": [10,2]})", 60},
        {R"({"DataType": "INT4", "Sizes": [3]})", 4},
        {R"({"DataType": "INT8", "Sizes": [5], "TotalTensorSizeInBytes": 100})", 100},
        {R"({"DataType": "INT8", "Sizes": [5], "TotalTensorSizeInBytes": 0})", 0},
        // A size that overflows 64 bits is read as 0, which validation rejects.
        {R"({"DataType": "FLOAT64", "Sizes": [4294967295, 4294967295, 4294967295]})", 0},
    };
    for (const auto& [text, total] : rows) {
        const auto read = tensor_desc(text);
        ASSERT_TRUE(read.value.has_value()) << text << "\n" << all_text(read.problems);
        EXPECT_EQ(read.value->total_bytes, total) << text;
    }
}

struct ErrorRow {
    std::string_view text;
    std::vector<std::string> problems;
};

TEST(TensorDescReader, Refused) {
    const ErrorRow rows[] = {
        {"5",
         {R"(1:1 : expected a tensor description, found a number [for example { "DataType": "FLOAT32", "Sizes": [1,1,4,4] }])"}},
        {"null", {"1:1 : expected a tensor description, found null"}},
        {R"(["FLOAT32"])", {"1:1 : expected a tensor description, found an array"}},
        {"{}", {R"(1:1 : a tensor needs a "DataType")", R"(1:1 : a tensor needs "Sizes")"}},
        {R"({"Sizes": [1]})", {R"(1:1 : a tensor needs a "DataType")"}},
        {R"({"DataType": "INT8"})", {R"(1:1 : a tensor needs "Sizes")"}},
        {R"({"DataType": "FLAOT32", "Sizes": [1]})",
         {R"(1:14 /DataType: "FLAOT32" is not a tensor data type [did you mean `FLOAT32`?])"}},
        {R"({"DataType": "float32", "Sizes": [1]})",
         {R"(1:14 /DataType: "float32" is not a tensor data type [did you mean `FLOAT32`?])"}},
        {R"({"DataType": "BFLOAT", "Sizes": [1]})", {R"(1:14 /DataType: "BFLOAT" is not a tensor data type)"}},
        {R"({"DataType": 1, "Sizes": [1]})",
         {R"(1:14 /DataType: expected the name of a data type, found a number [for example "FLOAT32"])"}},
        {R"({"DataType": null, "Sizes": [1]})", {"1:14 /DataType: expected the name of a data type, found null"}},
        {R"({"DataType": "INT8", "Sizes": 4})", {"1:31 /Sizes: Sizes must be an array of integers; this is a number"}},
        {R"({"DataType": "INT8", "Sizes": null})", {"1:31 /Sizes: Sizes must be an array of integers; this is null"}},
        {R"({"DataType": "INT8", "Sizes": [1, "2"]})",
         {"1:35 /Sizes/1: Sizes[1] must be an integer; this is a string"}},
        {R"({"DataType": "INT8", "Sizes": [1.5]})", {"1:32 /Sizes/0: Sizes[0] must be an integer"}},
        {R"({"DataType": "INT8", "Sizes": [-1]})", {"1:32 /Sizes/0: Sizes[0] is -1; it must be from 0 to 4294967295"}},
        {R"({"DataType": "INT8", "Sizes": [4294967296]})",
         {"1:32 /Sizes/0: Sizes[0] is 4294967296; it must be from 0 to 4294967295"}},
        {R"({"DataType": "INT8", "Sizes": [1e30]})", {"1:32 /Sizes/0: Sizes[0] "}},
        // Consequences of an invalid "Sizes" are not reported in addition.
        {R"({"DataType": "INT8", "Sizes": [-1], "Strides": [1], "DimensionCount": 1})",
         {"1:32 /Sizes/0: Sizes[0] is -1"}},
        {R"({"DataType": "INT8", "Strides": [1], "DimensionCount": 1})", {R"(1:1 : a tensor needs "Sizes")"}},
        {R"({"DataType": "INT8", "Sizes": [1,2], "Strides": [1]})", {"1:49 /Strides: 1 strides for 2 sizes"}},
        {R"({"DataType": "INT8", "Sizes": [1,2], "Strides": []})", {"1:49 /Strides: 0 strides for 2 sizes"}},
        {R"({"DataType": "INT8", "Sizes": [2], "Strides": [-1]})",
         {"1:48 /Strides/0: Strides[0] is -1; it must be from 0 to 4294967295"}},
        {R"({"DataType": "INT8", "Sizes": [2], "Strides": 1})", {"1:47 /Strides: Strides must be an array"}},
        {R"({"DataType": "INT8", "Sizes": [1,2], "DimensionCount": 3})",
         {"1:56 /DimensionCount: DimensionCount is 3, but Sizes has 2 entries"}},
        {R"({"DataType": "INT8", "Sizes": [1], "DimensionCount": "1"})",
         {"1:54 /DimensionCount: DimensionCount must be an integer; this is a string"}},
        {R"({"DataType": "INT8", "Sizes": [1], "Flags": "OWNED"})", {R"(1:45 /Flags: "OWNED" is not a tensor flag)"}},
        {R"({"DataType": "INT8", "Sizes": [1], "Flags": "OWNED_BY_DM"})",
         {R"(1:45 /Flags: "OWNED_BY_DM" is not a tensor flag [did you mean `OWNED_BY_DML`?])"}},
        {R"({"DataType": "INT8", "Sizes": [1], "Flags": 1})",
         {R"(1:45 /Flags: expected "NONE" or "OWNED_BY_DML", found a number)"}},
        {R"({"DataType": "INT8", "Sizes": [1], "TotalTensorSizeInBytes": -4})",
         {"1:62 /TotalTensorSizeInBytes: TotalTensorSizeInBytes is -4; it must be from 0 to 18446744073709551615"}},
        {R"({"DataType": "INT8", "Sizes": [1], "TotalTensorSizeInBytes": 18446744073709551616})",
         {"1:62 /TotalTensorSizeInBytes: TotalTensorSizeInBytes "}},
        {R"({"DataType": "INT8", "Sizes": [1], "GuaranteedBaseOffsetAlignment": 4294967296})",
         {"1:69 /GuaranteedBaseOffsetAlignment: GuaranteedBaseOffsetAlignment is 4294967296"}},
        {R"({"DataType": "INT8", "Size": [1]})",
         {R"(1:1 : a tensor needs "Sizes")",
          R"(1:22 /Size: unknown key "Size" in a tensor description [did you mean `Sizes`?])"}},
        {R"({"DataType": "INT8", "Sizes": [1], "Colour": 1})",
         {R"(1:36 /Colour: unknown key "Colour" in a tensor description)"}},
        // The form with "Type" and "Desc".
        {R"({"Type": "TEXTURE", "Desc": {}})", {R"(1:10 /Type: a tensor's "Type" can only be "BUFFER")"}},
        {R"({"Type": 1, "Desc": {}})", {R"(1:10 /Type: a tensor's "Type" can only be "BUFFER")"}},
        {R"({"Type": "BUFFER"})", {R"(1:1 : a tensor with a "Type" needs a "Desc")"}},
        {R"({"Type": "BUFFER", "DataType": "INT8", "Sizes": [1]})", {R"(1:1 : a tensor with a "Type" needs a "Desc")"}},
        {R"({"Type": "BUFFER", "Desc": null})", {"1:28 /Desc: expected a tensor description, found null"}},
        {R"({"Type": "BUFFER", "Desc": [1]})", {"1:28 /Desc: expected a tensor description, found an array"}},
        {R"({"Type": "BUFFER", "Desc": {"DataType": "INT8", "Sizes": [1]}, "Flags": "NONE"})",
         {R"(1:64 /Flags: unknown key "Flags" in a tensor in the long form)"}},
        {R"({"Type": "BUFFER", "Desc": {"DataType": "INT8"}})", {R"(1:28 /Desc: a tensor needs "Sizes")"}},
        {R"({"Desc": {"DataType": "INT8", "Sizes": [1]}})",
         {R"(1:1 : a tensor needs a "DataType")", R"(1:1 : a tensor needs "Sizes")",
          R"(1:2 /Desc: unknown key "Desc")"}},
        // Several problems at once.
        {R"({"DataType": "INT9", "Sizes": [1], "Flags": "X", "DimensionCount": 2})",
         {R"(1:14 /DataType: "INT9" is not a tensor data type)", R"(1:45 /Flags: "X" is not a tensor flag)",
          "1:68 /DimensionCount: DimensionCount is 2"}},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(row.text);
        const auto read = tensor_desc(row.text);
        EXPECT_FALSE(read.value.has_value());
        EXPECT_TRUE(begin_with(read.problems, row.problems));
    }
}

TEST(TensorDescReader, UnsignedIntegers) {
    struct UnsignedRow {
        std::string_view text;
        std::uint64_t largest;
        std::optional<std::uint64_t> value;
    };
    const UnsignedRow rows[] = {
        {"0", 5, 0},
        {"5", 5, 5},
        {"6", 5, {}},
        {"-0", 5, 0},
        {"-1", 5, {}},
        {"5.0", 5, 5},
        {"5.5", 6, {}},
        {"\"5\"", 5, {}},
        {"true", 5, {}},
        {"null", 5, {}},
        {"18446744073709551615", ~std::uint64_t{0}, ~std::uint64_t{0}},
        {"18446744073709551616", ~std::uint64_t{0}, {}},
    };
    for (const UnsignedRow& row : rows) {
        const auto read = reading(row.text, [&](const JsonValue& value, ProblemSink& problems) {
            return cases::read_unsigned(value, "N", row.largest, problems);
        });
        EXPECT_EQ(read.value, row.value) << row.text;
        EXPECT_EQ(read.problems.size(), row.value ? 0u : 1u) << row.text;
    }
}

TEST(TensorDescReader, UnknownKeys) {
    const std::vector<std::string> allowed{"alpha", "beta"};
    const auto check = [&](std::string_view text) {
        return reading(text, [&](const JsonValue& value, ProblemSink& problems) {
            return std::optional(cases::check_keys(value, allowed, "a thing", problems));
        });
    };
    EXPECT_TRUE(*check("{}").value);
    EXPECT_TRUE(*check(R"({"beta": 1, "alpha": 2})").value);
    const auto read = check(R"({"alhpa": 1, "beta": 2, "gamma": 3})");
    EXPECT_FALSE(*read.value);
    EXPECT_EQ(short_texts(read.problems),
              (std::vector<std::string>{"1:2 /alhpa: unknown key \"alhpa\" in a thing [did you mean `alpha`?]",
                                        "1:25 /gamma: unknown key \"gamma\" in a thing"}));
}

}  // namespace
}  // namespace dmlconform::tests::tensor_desc_reader_test
