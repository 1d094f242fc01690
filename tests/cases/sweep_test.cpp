// Tests of engine/cases/sweep: expansions, their ids, and invalid sweeps.
#include "engine/cases/sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/cases/case_file.h"
#include "tests/cases/reading.h"

namespace dmlconform::tests::sweep_test {
namespace {

using cases::read_case_file;
using cases::Suite;

/// A file with one case, a slice of one dimension, in which everything may be a placeholder.
std::string file(std::string_view members, std::string_view type = R"("INT8")", std::string_view size = "4",
                 std::string_view stride = "1") {
    return fmt::format(R"({{ "cases": [ {{ "name": "s", "operator": "SLICE1",
  "desc": {{ "InputTensor": {{ "DataType": {0}, "Sizes": [{1}] }}, "OutputTensor": {{ "DataType": {0}, "Sizes": [1] }},
             "InputWindowOffsets": [0], "InputWindowSizes": [{1}], "InputWindowStrides": [{2}] }},
  "inputs": {{ "InputTensor": {{ "value": 1 }} }},
  {3} }} ] }})",
                       type, size, stride, members);
}

std::vector<std::string> ids_of(const Suite& suite) {
    std::vector<std::string> ids;
    for (const auto& entry : suite.cases) {
        ids.push_back(entry.id);
    }
    return ids;
}

/// The ids of the cases of a valid file.
std::vector<std::string> ids(std::string_view text) {
    const Suite suite = read_case_file("f.json", text);
    EXPECT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    return ids_of(suite);
}

using Ids = std::vector<std::string>;

TEST(Sweep, ProductsInTheOrderWrittenTheLastVariableFastest) {
    EXPECT_EQ(ids(file(R"("sweep": {"T": ["INT8", "FLOAT16"], "n": [4, 5, 6]})", R"("${T}")", R"("${n}")")),
              (Ids{"f/s[T=INT8,n=4]", "f/s[T=INT8,n=5]", "f/s[T=INT8,n=6]", "f/s[T=FLOAT16,n=4]", "f/s[T=FLOAT16,n=5]",
                   "f/s[T=FLOAT16,n=6]"}));
    EXPECT_EQ(ids(file(R"("sweep": {"n": [4, 5], "T": ["INT8"]})", R"("${T}")", R"("${n}")")),
              (Ids{"f/s[n=4,T=INT8]", "f/s[n=5,T=INT8]"}));
}

TEST(Sweep, ValuesKeepTheirTypes) {
    const Suite suite = read_case_file("f.json", R"({ "cases": [ { "name": "m", "operator": "${op}",
      "desc": { "InputTensor": "${tensor}", "OutputTensor": "${tensor}", "Axes": "${axes}",
                "NormalizeVariance": "${flag}", "Epsilon": "${eps}", "FusedActivation": "${act}" },
      "inputs": { "InputTensor": "${data}" }, "tags": "${tags}", "tolerance": { "*": { "ulp": "${ulp}" } },
      "sweep": { "op": ["MEAN_VARIANCE_NORMALIZATION1"],
                 "tensor": [ { "DataType": "FLOAT32", "Sizes": [2] } ], "axes": [ [0] ], "flag": [ true, 0 ],
                 "eps": [ 0.25, 1 ], "act": [ null, { "Type": "ACTIVATION_RELU" } ], "data": [ [1, 2] ],
                 "tags": [ ["x"] ], "ulp": [ 3 ] } } ] })");
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    ASSERT_EQ(suite.cases.size(), 8u);
    EXPECT_EQ(suite.cases[0].id,
              "f/m[op=MEAN_VARIANCE_NORMALIZATION1,tensor=0,axes=0,flag=true,eps=0.25,act=0,data=0,tags=0,ulp=3]");
    EXPECT_EQ(suite.cases[7].id,
              "f/m[op=MEAN_VARIANCE_NORMALIZATION1,tensor=0,axes=0,flag=0,eps=1,act=1,data=0,tags=0,ulp=3]");
    const auto& last = *suite.cases[7].descriptor;
    EXPECT_EQ(last.uint("NormalizeVariance"), 0u);
    EXPECT_EQ(last.number("Epsilon"), 1.0f);
    ASSERT_NE(last.activation("FusedActivation"), nullptr);
    EXPECT_EQ(suite.cases[0].descriptor->activation("FusedActivation"), nullptr);
    EXPECT_TRUE(suite.cases[7].has_tag("x"));
    EXPECT_EQ(suite.cases[7].tolerances[0]->ulp, 3u);
}

TEST(Sweep, MembersOfValues) {
    EXPECT_EQ(ids(file(R"("sweep": {"geometry": [{"n": 4, "s": -1}, {"n": 8, "s": 2}]})", R"("INT8")",
                       R"("${geometry.n}")", R"("${geometry.s}")")),
              (Ids{"f/s[geometry=0]", "f/s[geometry=1]"}));
}

TEST(Sweep, OnlyWholeStringsAreReplaced) {
    const Suite suite =
        read_case_file("f.json", file(R"("description": "type ${T} in text", "tags": ["${T}", "a${T}", "$T", "${T"],
                         "sweep": {"T": ["INT8"]})",
                                      R"("${T}")"));
    ASSERT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    EXPECT_EQ(suite.cases[0].description, "type ${T} in text");
    EXPECT_EQ(suite.cases[0].tags, (std::vector<std::string>{"INT8", "a${T}", "$T", "${T"}));
}

TEST(Sweep, ReplacedValuesAreNotReplacedAgain) {
    const Suite suite = read_case_file("f.json", file(R"("tags": ["${T}"], "sweep": {"T": ["${T}"]})"));
    EXPECT_TRUE(suite.problems.empty()) << all_text(suite.problems);
    ASSERT_EQ(suite.cases.size(), 1u);
    EXPECT_EQ(suite.cases[0].tags, (std::vector<std::string>{"${T}"}));
}

TEST(Sweep, InTheDefaults) {
    const std::string text = R"({ "defaults": { "operator": "SLICE1", "sweep": { "T": ["INT8", "INT16"] },
      "desc": { "InputTensor": { "DataType": "${T}", "Sizes": [2] }, "OutputTensor": { "DataType": "${T}", "Sizes": [1] },
                "InputWindowOffsets": [0], "InputWindowSizes": [2], "InputWindowStrides": [2] },
      "inputs": { "InputTensor": [1, 2] } },
      "cases": [ { "name": "a" }, { "name": "b", "sweep": { "T": ["UINT8"] } } ] })";
    EXPECT_EQ(ids(text), (Ids{"f/a[T=INT8]", "f/a[T=INT16]", "f/b[T=UINT8]"}));
}

TEST(Sweep, LinesAreThoseOfTheCase) {
    const Suite suite = read_case_file("f.json", "\n\n" + file(R"("sweep": {"n": [4, 5]})", R"("INT8")", R"("${n}")"));
    ASSERT_EQ(suite.cases.size(), 2u);
    EXPECT_EQ(suite.cases[0].line, 3u);
    EXPECT_EQ(suite.cases[1].line, 3u);
}

TEST(Sweep, IllegalExpansionsAreErrorsUnlessTheyAreSkipped) {
    const std::string sweep = R"("sweep": {"n": [4, 0, 5], "s": [1, 0]})";
    const Suite refused = read_case_file("f.json", file(sweep, R"("INT8")", R"("${n}")", R"("${s}")"));
    // The illegal expansions are (4,0), (0,1), (0,0) and (5,0).
    EXPECT_EQ(refused.problems.size(), 4u) << all_text(refused.problems);
    EXPECT_TRUE(contains(all_text(refused.problems), "the expansion [n=4,s=0] gives an illegal descriptor: "));
    EXPECT_TRUE(contains(all_text(refused.problems), "\"skipInvalid\": true leaves such expansions out"));

    const Suite skipped =
        read_case_file("f.json", file(R"("skipInvalid": true, )" + sweep, R"("INT8")", R"("${n}")", R"("${s}")"));
    EXPECT_TRUE(skipped.problems.empty()) << all_text(skipped.problems);
    EXPECT_EQ(ids_of(skipped), (Ids{"f/s[n=4,s=1]", "f/s[n=5,s=1]"}));
    ASSERT_EQ(skipped.skipped.size(), 1u);
    EXPECT_EQ(skipped.skipped[0].id, "f/s");
    EXPECT_EQ(skipped.skipped[0].count, 4u);

    const Suite kept =
        read_case_file("f.json", file(R"("skipInvalid": false, )" + sweep, R"("INT8")", R"("${n}")", R"("${s}")"));
    EXPECT_EQ(kept.problems.size(), 4u);
}

TEST(Sweep, ExpectedErrorsMayBeSwept) {
    EXPECT_EQ(
        ids(R"({ "cases": [ { "name": "s", "operator": "SLICE1", "expectError": "E_INVALIDARG", "sweep": {"s": [0, 1]},
      "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [2] }, "OutputTensor": { "DataType": "INT8", "Sizes": [3] },
                "InputWindowOffsets": [0], "InputWindowSizes": [2], "InputWindowStrides": ["${s}"] } } ] })"),
        (Ids{"f/s[s=0]", "f/s[s=1]"}));
}

struct ErrorRow {
    std::string members;
    std::vector<std::string> problems;
};

TEST(Sweep, Refused) {
    const ErrorRow rows[] = {
        {R"("sweep": 5)",
         {R"(/cases/0/sweep: "sweep" must be an object with at least one variable [for example { "T":)"}},
        {R"("sweep": {})", {R"(/cases/0/sweep: "sweep" must be an object with at least one variable)"}},
        {R"("sweep": [])", {R"(/cases/0/sweep: "sweep" must be an object)"}},
        {R"("sweep": {"n": []})", {R"(/cases/0/sweep/n: "n" must be an array of at least one value)"}},
        {R"("sweep": {"n": 4})", {R"(/cases/0/sweep/n: "n" must be an array of at least one value)"}},
        {R"("sweep": {"a.b": [1]})", {R"(/cases/0/sweep/a.b: "a.b" is not a name for a variable)"}},
        {R"("sweep": {"": [1]})", {R"(/cases/0/sweep/: "" is not a name for a variable)"}},
        {R"("sweep": {"a=b": [1]})", {R"(/cases/0/sweep/a=b: "a=b" is not a name for a variable)"}},
        {R"("sweep": {"m": [1]})",
         {R"(/cases/0/desc/InputTensor/Sizes/0: the sweep has no "n" [)",
          R"(/cases/0/desc/InputWindowSizes/0: the sweep has no "n" [)"}},
        {R"("sweep": {"n": [4], "unused": [1]})",
         {R"(/cases/0/sweep/unused: the case does not use "unused" [write "${unused}" where)"}},
        {R"("sweep": {"n": [4, 4]})", {R"(/cases/0/sweep/n/1: another value of "n" is 4 too)"}},
        {R"("sweep": {"n": [4]}, "tags": ["${n.x}"])",
         {R"(/cases/0/sweep/n/0: a value of "n" has no member "x", which the case uses)"}},
        {R"("sweep": {"n": ["many"]})",
         {"/cases/0/sweep/n/0: Sizes[0] must be an integer; this is a string",
          "/cases/0/sweep/n/0: InputWindowSizes[0] must be an integer; this is a string"}},
    };
    for (const ErrorRow& row : rows) {
        SCOPED_TRACE(row.members);
        const Suite suite = read_case_file("f.json", file(row.members, R"("INT8")", R"("${n}")"));
        EXPECT_TRUE(begin_with(suite.problems, row.problems));
    }
}

TEST(Sweep, PlaceholdersNeedASweep) {
    const Suite suite = read_case_file("f.json", file(R"("tags": [])", R"("${T}")"));
    EXPECT_TRUE(contains(all_text(suite.problems), "\"${T}\" is not a tensor data type"));
}

TEST(Sweep, ASkippedCaseWithoutANameIsReportedForThat) {
    std::string text = file(R"("skipInvalid": true, "sweep": {"s": [0]})", R"("INT8")", "4", R"("${s}")");
    text.replace(text.find(R"("name": "s",)"), std::string_view(R"("name": "s",)").size(), "");
    const Suite suite = read_case_file("f.json", text);
    EXPECT_TRUE(contains(all_text(suite.problems), "a case needs \"name\""));
}

TEST(Sweep, ProductsHaveALimit) {
    // The number of expansions overflows 64 bits.
    std::string values = "[0";
    for (int i = 1; i < 1000; ++i) {
        values += fmt::format(",{}", i);
    }
    values += "]";
    std::string sweep = R"("sweep": {"n": [4])";
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
        sweep += fmt::format(R"(, "{}": {})", name, values);
    }
    const Suite suite = read_case_file("f.json", file(sweep + "}", R"("INT8")", R"("${n}")"));
    ASSERT_EQ(suite.problems.size(), 1u) << all_text(suite.problems);
    EXPECT_EQ(suite.problems[0].pointer, "/cases/0/sweep");
    EXPECT_TRUE(contains(suite.problems[0].message, "expansions"));
}

TEST(Sweep, AFileHasRoomForSoManyCases) {
    const std::string text = file(R"("sweep": {"n": [1, 2, 3, 4]})", R"("INT8")", R"("${n}")");
    EXPECT_EQ(read_case_file("f.json", text, {.most_cases = 4}).cases.size(), 4u);
    const Suite suite = read_case_file("f.json", text, {.most_cases = 3});
    ASSERT_EQ(suite.problems.size(), 1u);
    EXPECT_TRUE(contains(suite.problems[0].message, "4 expansions"));
}

}  // namespace
}  // namespace dmlconform::tests::sweep_test
