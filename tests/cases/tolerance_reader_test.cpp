// Tests of engine/cases/tolerance_reader: tolerances of each output, and "*".
#include "engine/cases/tolerance_reader.h"

#include <gtest/gtest.h>

#include "tests/cases/reading.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::tolerance_reader_test {
namespace {

using core::DataType;
using core::Tolerance;
using Tolerances = std::vector<std::optional<Tolerance>>;

/// TOP_K1 has two outputs.
const operators::Descriptor& top_k() {
    static const operators::Descriptor descriptor =
        describe("TOP_K1", {{"InputTensor", tensor(DataType::float32, {4})},
                            {"OutputValueTensor", tensor(DataType::float32, {2})},
                            {"OutputIndexTensor", tensor(DataType::uint32, {2})},
                            {"K", 2}});
    return descriptor;
}

Reading<Tolerances> tolerances(std::string_view text) {
    return reading(text, [](const cases::JsonValue& value, cases::ProblemSink& problems) {
        return std::optional(cases::read_tolerances(&value, top_k(), problems));
    });
}

TEST(ToleranceReader, NoneIsTheOperatorsDefault) {
    cases::ProblemSink problems("x.json", "");
    EXPECT_EQ(cases::read_tolerances(nullptr, top_k(), problems), Tolerances(2));
    EXPECT_EQ(problems.count(), 0u);
    EXPECT_EQ(*tolerances("{}").value, Tolerances(2));
}

struct Row {
    std::string_view text;
    std::string_view values;  // as printed by core::to_string; "" for the default
    std::string_view indices;
};

TEST(ToleranceReader, Forms) {
    const Row rows[] = {
        {R"({"OutputValueTensor": {"ulp": 2}})", "2 ulp", ""},
        {R"({"OutputIndexTensor": {"ulp": 0}})", "", "0 ulp"},
        {R"({"*": {"ulp": 2}})", "2 ulp", "2 ulp"},
        {R"({"*": {"ulp": 2}, "OutputIndexTensor": {"exact": true}})", "2 ulp", "exact"},
        {R"({"OutputIndexTensor": {"exact": true}, "*": {"abs": 0.25}})", "0.25 abs", "exact"},
        {R"({"OutputValueTensor": {"abs": 1e-6}})", "1e-06 abs", ""},
        {R"({"OutputValueTensor": {"rel": 1e-5}})", "1e-05 rel", ""},
        {R"({"OutputValueTensor": {"abs": 0, "rel": 1}})", "0 abs or 1 rel", ""},
        {R"({"OutputValueTensor": {"rel": 0.5, "abs": 3, "ulp": 18446744073709551615}})",
         "18446744073709551615 ulp or 3 abs or 0.5 rel", ""},
        {R"({"OutputValueTensor": {"exact": true}})", "exact", ""},
        {R"({"OutputValueTensor": {"ulp": 2.0}})", "2 ulp", ""},
    };
    for (const Row& row : rows) {
        const auto read = tolerances(row.text);
        EXPECT_TRUE(read.problems.empty()) << row.text << "\n" << all_text(read.problems);
        const auto printed = [](const std::optional<Tolerance>& tolerance) {
            return tolerance ? core::to_string(*tolerance) : std::string();
        };
        ASSERT_EQ(read.value->size(), 2u);
        EXPECT_EQ(printed((*read.value)[0]), row.values) << row.text;
        EXPECT_EQ(printed((*read.value)[1]), row.indices) << row.text;
    }
}

TEST(ToleranceReader, Refused) {
    const std::pair<std::string_view, std::vector<std::string>> rows[] = {
        {"5",
         {R"(1:1 : "tolerance" must be an object; this is a number [for example { "OutputTensor": { "ulp": 2 } })"}},
        {"null", {R"(1:1 : "tolerance" must be an object; this is null)"}},
        {R"({"ulp": 2})", {R"(1:2 /ulp: unknown key "ulp" in the tolerances)"}},
        {R"({"OutputValuesTensor": {"ulp": 2}})",
         {R"(1:2 /OutputValuesTensor: unknown key "OutputValuesTensor" in the tolerances [did you mean `OutputValueTensor`?])"}},
        {R"({"InputTensor": {"ulp": 2}})", {R"(1:2 /InputTensor: unknown key "InputTensor" in the tolerances)"}},
        {R"({"*": {}})",
         {R"(1:7 /*: a tolerance is an object with one or more of "ulp", "abs", "rel", "exact", "halfPrecision" [for example { "ulp": 2 }])"}},
        {R"({"*": 2})", {R"(1:7 /*: a tolerance is an object)"}},
        {R"({"*": null})", {R"(1:7 /*: a tolerance is an object)"}},
        {R"({"*": {"ulps": 2}})", {R"(1:8 /*/ulps: unknown key "ulps" in a tolerance [did you mean `ulp`?])"}},
        {R"({"*": {"exact": true, "abs": 1e9}})",
         {"1:7 /*: \"exact\" means that all bits are equal, so it allows no other key beside it"}},
        {R"({"*": {"ulp": -1}})", {"1:15 /*/ulp: ulp is -1; it must be from 0 to 18446744073709551615"}},
        {R"({"*": {"ulp": 0.5}})", {"1:15 /*/ulp: ulp must be an integer"}},
        {R"({"*": {"ulp": "2"}})", {"1:15 /*/ulp: ulp must be an integer; this is a string"}},
        {R"({"*": {"abs": -1e-6}})", {"1:15 /*/abs: \"abs\" must be a number of at least 0"}},
        {R"({"*": {"abs": "inf"}})", {"1:15 /*/abs: \"abs\" must be a number of at least 0"}},
        {R"({"*": {"rel": -1}})", {"1:15 /*/rel: \"rel\" must be a number of at least 0"}},
        {R"({"*": {"rel": null}})", {"1:15 /*/rel: \"rel\" must be a number of at least 0"}},
        {R"({"*": {"exact": false}})", {"1:17 /*/exact: \"exact\" can only be true"}},
        {R"({"*": {"exact": 1}})", {"1:17 /*/exact: \"exact\" can only be true"}},
        {R"({"*": {"halfPrecision": true}})",
         {R"(1:25 /*/halfPrecision: "halfPrecision" is for FLOAT16 tensors of CONVOLUTION and GEMM [give a bound)"}},
        {R"({"*": {"halfPrecision": false}})", {R"(1:25 /*/halfPrecision: "halfPrecision" can only be true)"}},
        // "*" is checked even if every output has a separate tolerance.
        {R"({"*": {"ulp": -1}, "OutputValueTensor": {"ulp": 1}, "OutputIndexTensor": {"ulp": 1}})",
         {"1:15 /*/ulp: ulp is -1"}},
        {R"({"OutputValueTensor": {"abs": -1}, "OutputIndexTensor": {"rel": -1}})",
         {"1:31 /OutputValueTensor/abs: ", "1:65 /OutputIndexTensor/rel: "}},
    };
    for (const auto& [text, problems] : rows) {
        SCOPED_TRACE(text);
        EXPECT_TRUE(begin_with(tolerances(text).problems, problems));
    }
}

TEST(ToleranceReader, HalfPrecisionOfFloat16Products) {
    const auto read = [](DataType type) {
        const operators::Descriptor gemm = describe("GEMM", {{"ATensor", tensor(type, {1, 2})},
                                                             {"BTensor", tensor(type, {2, 1})},
                                                             {"OutputTensor", tensor(type, {1, 1})}});
        return reading(R"({"OutputTensor": {"halfPrecision": true, "ulp": 1}})",
                       [&](const cases::JsonValue& value, cases::ProblemSink& problems) {
                           return std::optional(cases::read_tolerances(&value, gemm, problems));
                       });
    };
    const auto half = read(DataType::float16);
    EXPECT_TRUE(half.problems.empty()) << all_text(half.problems);
    const Tolerance tolerance = half.value->at(0).value_or(Tolerance());
    EXPECT_TRUE(tolerance.half_precision);
    EXPECT_TRUE(tolerance.element_slack);
    EXPECT_EQ(tolerance.ulp, 1u);
    EXPECT_EQ(read(DataType::float32).problems.size(), 1u);
}

}  // namespace
}  // namespace dmlconform::tests::tolerance_reader_test
