// Tests of engine/page/page_data and markdown: counts, the data that are kept, and escaping.
#include "engine/page/page_data.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/page/markdown.h"
#include "tests/temporary_folder.h"

namespace dmlconform::page::page_data_test {
namespace {

Json result(const std::string& id, const char* status, const char* type, bool gated = true) {
    return {{"id", id},
            {"operator", "DML_OPERATOR_SLICE1"},
            {"file", "a.json"},
            {"line", 3},
            {"engine", "cpu"},
            {"status", status},
            {"gated", gated},
            {"reason", "because | of <b>"},
            {"descriptor", {"Mode: FLOAT", std::string("InputTensor: ") + type + " [1]"}},
            {"outputs", Json::array({{{"name", "O"},
                                      {"tolerance", "1 ulp"},
                                      {"elements", 4},
                                      {"beyondTolerance", 0},
                                      {"largestToleranceUsed", 0.25},
                                      {"ulpHistogram", {{"0", 3}, {"1", 1}}}}})},
            {"timing", {{"totalNanoseconds", 5000}, {"executeNanoseconds", 3000}}}};
}

std::string file_of(const std::vector<Json>& results) {
    return Json{{"format", "dmlconform-result"},
                {"formatVersion", 1},
                {"started", "2026-11-21T13:00:00Z"},
                {"engines", Json::array({{{"name", "cpu"}, {"adapter", "A"}, {"driver", ""}}})},
                {"results", results}}
        .dump();
}

PageData data_of(const std::vector<Json>& results) {
    const tests::TemporaryFolder folder;
    PageData data;
    const auto added = data.add_run(folder.write("r.json", file_of(results)));
    EXPECT_TRUE(added) << (added ? "" : added.error().message);
    return data;
}

TEST(PageData, CountsByOperatorTypeAndEngine) {
    const PageData data = data_of({result("a", "pass", "FLOAT32"), result("b", "fail", "FLOAT32"),
                                   result("c", "pass", "UINT8"), result("d", "fail", "UINT8", false)});
    ASSERT_EQ(data.totals.size(), 2u);
    const Total& floats = data.totals.at({"SLICE1", "FLOAT32", "cpu"});
    EXPECT_EQ(floats.count(run::Status::pass), 1u);
    EXPECT_EQ(floats.failures(), 1u);
    EXPECT_EQ(floats.ulps[0], 6u);
    EXPECT_EQ(floats.tolerance[2], 2u);
    EXPECT_EQ(floats.largest_tolerance, 0.25);
    EXPECT_NEAR(floats.seconds, 6e-6, 1e-12);
    const Total& bytes = data.totals.at({"SLICE1", "UINT8", "cpu"});
    EXPECT_EQ(bytes.failures(), 0u) << "off the gate";
    EXPECT_EQ(bytes.off_gate, 1u);
    ASSERT_EQ(data.failures.size(), 2u);
    EXPECT_EQ(data.failures[0].result["id"], "b");
    EXPECT_EQ(data.failures[1].data_type, "UINT8");
}

TEST(PageData, RefusesTwoResultsOfTheSameCasesAndEngine) {
    const tests::TemporaryFolder folder;
    struct Row {
        const char* what;
        const char* id;
        const char* adapter;
        bool is_reference;
        bool has_another;
        bool good;
    };
    const Row rows[] = {
        {"the same again", "a", "A", false, false, false},
        {"another shard", "b", "A", false, false, true},
        {"another adapter", "a", "B", false, false, true},
        {"the reference alone", "a", "A", true, false, false},
        {"the reference beside another engine", "a", "A", true, true, true},
    };
    for (const Row& row : rows) {
        const auto file = [&](const char* name, const char* id, const char* adapter, const char* other) {
            Json document = Json::parse(file_of({result(id, "pass", "FLOAT32")}));
            document["engines"][0]["adapter"] = adapter;
            document["engines"][0]["reference"] = row.is_reference;
            if (row.has_another) {
                document["engines"].push_back({{"name", other}, {"adapter", "X"}, {"driver", ""}});
            }
            return folder.write(name, document.dump());
        };
        PageData data;
        ASSERT_TRUE(data.add_run(file("first.json", "a", "A", "d3d12")));
        const auto second = data.add_run(file("second.json", row.id, row.adapter, "directml"));
        EXPECT_EQ(second.has_value(), row.good) << row.what;
        if (!second) {
            EXPECT_NE(second.error().message.find("second.json has cases that "), std::string::npos) << row.what;
            EXPECT_NE(second.error().hint.find("dmlconform diff"), std::string::npos) << row.what;
        }
    }
}

TEST(PageData, ManyFailuresAreCountedRatherThanKept) {
    std::vector<Json> results;
    for (std::size_t i = 0; i < most_failures + 5; ++i) {
        results.push_back(result("c" + std::to_string(i), "crash", "FLOAT16"));
    }
    const PageData data = data_of(results);
    EXPECT_EQ(data.failures.size(), most_failures);
    EXPECT_EQ(data.failure_count, most_failures + 5);
    const std::string text = markdown(data);
    EXPECT_NE(text.find("and 985 more"), std::string::npos) << text;
    EXPECT_LT(text.size(), 10'000u);
}

TEST(PageData, DataTypes) {
    EXPECT_EQ(data_type_of(Json::array({"A: 3", "T: FLOAT16 [1,2]", "U: UINT8 [1]"})), "FLOAT16");
    EXPECT_EQ(data_type_of(Json::array({"T: null", 3, "DataType: FLOAT33 [1]", "no colon"})), "-");
    EXPECT_EQ(data_type_of(Json::array()), "-");
}

/// A result whose output has `elements` elements and this Q.
Json with_precision(const std::string& id, double q, std::size_t elements, const char* name) {
    Json told = result(id, "pass", "FLOAT32");
    Json& precision = told["outputs"][0]["precision"];
    precision = {{"elements", elements}, {"different", std::min<std::size_t>(elements, 64)}, {"q", q}, {"bias", 0.0}};
    if (name != nullptr) {
        precision["computesAs"] = name;
    }
    return told;
}

TEST(PageData, SmallOutputsTellThePrecisionTogether) {
    const auto name_of = [](const std::vector<Json>& results) {
        return data_of(results).totals.at({"SLICE1", "FLOAT32", "cpu"}).precision_name("FLOAT32");
    };
    EXPECT_EQ(name_of({result("a", "pass", "FLOAT32")}), "");
    EXPECT_EQ(name_of({with_precision("a", 0.5, 40, nullptr)}), "");
    EXPECT_EQ(name_of({with_precision("a", 0.5, 40, nullptr), with_precision("b", 1, 40, nullptr)}), "FP32");
    EXPECT_EQ(name_of({with_precision("a", 512, 40, nullptr), with_precision("b", 512, 40, nullptr)}),
              "less than FP32 (15.0 bits)");
    EXPECT_EQ(name_of({with_precision("a", 0.5, 1000, "FP32"), with_precision("b", 90, 64, "TF32 (11 bits)")}),
              "TF32 (11 bits)");
    const char* const truncating = "FP32, rounding towards zero";
    EXPECT_EQ(name_of({with_precision("a", 90, 1000, truncating), with_precision("b", 2, 64, "FP32")}), truncating);
    Json wrong = with_precision("b", 1e9, 1000, nullptr);
    wrong["outputs"][0]["beyondTolerance"] = 1;
    EXPECT_EQ(name_of({with_precision("a", 0.5, 1000, "FP32"), wrong}), "FP32") << "it may be wrong in any way";
    Json ungated = with_precision("b", 1e9, 1000, "TF32 (11 bits)");
    ungated["gated"] = false;
    EXPECT_EQ(name_of({with_precision("a", 0.5, 1000, "FP32"), ungated}), "FP32");
}

TEST(Markdown, HasThePrecision) {
    const std::string text = markdown(data_of({with_precision("a", 512, 100, "TF32 (11 bits)")}));
    EXPECT_NE(text.find("Precision: 1 of 1 operators, types and engines compute in less than FP32"), std::string::npos);
    EXPECT_NE(text.find("| SLICE1 | FLOAT32 | cpu | TF32 \\(11 bits\\) | 512 | 0 | 15.0 | 100 |"), std::string::npos)
        << text;
}

/// Compared results of three benchmarks, of which the base has one more.
PageData compared_with(std::vector<bench::Change> changes) {
    PageData data;
    data.base.emplace_back();
    for (std::size_t i = 0; i < changes.size(); ++i) {
        bench::ComparedBenchmark& compared = data.comparison.benchmarks.emplace_back();
        compared.name = "b" + std::to_string(i);
        compared.change = changes[i];
    }
    return data;
}

/// The trend of a benchmark whose newest point is another level.
Json trend_of(const std::string& name, const char* verdict) {
    const Json point{{"measured", "2026-11-21T13:00:00Z"}, {"commit", "c"}};
    return {{"name", name},
            {"title", name},
            {"points", {point, point}},
            {"changes", {{{"index", 1}, {"before", 1.0}, {"after", 2.0}, {"confirmed", false}}}},
            {"verdict", verdict}};
}

TEST(Markdown, WhatDiffersComesBeforeTheTable) {
    PageData data = compared_with({bench::Change::slower});
    data.comparison.differences = {"clock"};
    data.comparison.missing = {"lost|"};
    const std::string text = markdown(data);
    EXPECT_NE(text.find("1 of 1 benchmarks slower; 1 only in the base\n\n- b0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nThe runs differ in: clock\n\nOnly in the base:\n\n- lost\\|\n\n| benchmark |"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("| --- |\n| b0 |"), std::string::npos) << text;
}

TEST(Markdown, AnUnconfirmedChangeIsCalledOne) {
    PageData data;
    data.trends = Json::array({trend_of("a", "maybe slower")});
    const std::string text = markdown(data);
    EXPECT_NE(text.find("since 2026-11-21T13:00:00Z, c; the next result will tell whether it stays\n"),
              std::string::npos)
        << text;
}

TEST(PageData, TheVerdictOnSpeedSaysWhatCannotBeTold) {
    using bench::Change;
    const auto verdict = [](const std::vector<Change>& changes, const std::vector<const char*>& verdicts = {}) {
        PageData data = compared_with(changes);
        for (const char* word : verdicts) {
            data.trends.push_back(trend_of("b" + std::to_string(data.trends.size()), word));
        }
        return data.slower().text();
    };
    EXPECT_EQ(verdict({}), "");
    EXPECT_EQ(verdict({Change::none, Change::slower}), "1 of 2 benchmarks slower");
    EXPECT_EQ(verdict({Change::too_few, Change::too_few}),
              "it cannot be told of any of 2 benchmarks whether it is slower");
    EXPECT_EQ(verdict({Change::none, Change::too_few}), "0 of 2 benchmarks slower; of 1 it cannot be told");
    EXPECT_EQ(verdict({}, {"too few"}), "it cannot be told of any of 1 benchmark whether it is slower");
    EXPECT_EQ(verdict({}, {"maybe slower"}), "0 of 1 benchmarks slower; of 1 it cannot be told") << "as the gate says";
    EXPECT_EQ(verdict({}, {"as before", "maybe slower", "gone"}), "0 of 2 benchmarks slower; of 1 it cannot be told");
    EXPECT_EQ(verdict({Change::none}, {"too few"}), "0 of 1 benchmarks slower") << "the comparison tells";
    EXPECT_EQ(verdict({Change::too_few}, {"slower"}), "1 of 1 benchmarks slower") << "the history tells";
    PageData data = compared_with({});
    data.comparison.missing = {"b"};
    EXPECT_EQ(data.slower().text(), "no benchmark is compared; 1 only in the base");
}

TEST(Markdown, TextsStayTexts) {
    const std::string text = markdown(data_of({result("x|<script>`@all`", "fail", "FLOAT32")}));
    EXPECT_NE(text.find("x\\|&lt;script\\>\\`\\@all\\` on cpu: because \\| of &lt;b\\>"), std::string::npos) << text;
    EXPECT_EQ(text.find('<'), std::string::npos);
    EXPECT_NE(text.find("| SLICE1 | FLOAT32 | cpu | 1 | 0 |"), std::string::npos) << text;
    EXPECT_NE(text.find("| off the gate | execution |"), std::string::npos) << "not the total time of `run`";
}

}  // namespace
}  // namespace dmlconform::page::page_data_test
