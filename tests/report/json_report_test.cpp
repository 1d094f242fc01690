// Tests of engine/report/json_report: every member is read back.
#include "engine/report/json_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::json_report_test {
namespace {

using nlohmann::json;
using report::RunContext;

using Engines = std::vector<std::unique_ptr<Engine>>;

RunContext context() {
    return {
        {"dmlconform", "run", "a b.json"}, {{"dmlconform", "1.2.3"}, {"fmt", "9.1.0"}}, "2024-05-06T07:08:09Z", "M"};
}

/// The text of the result file, with exit code 1.
std::string report_of(const AllResults& run, const RunContext& with) {
    const TemporaryFolder folder;
    report::JsonReport sink(folder.at("result.json"));
    EXPECT_TRUE(sink.begin(with, run.engines).has_value());
    for (const run::CaseResult& result : run.results) {
        EXPECT_TRUE(sink.add(result).has_value());
    }
    EXPECT_TRUE(sink.finish(run.totals(), 1).has_value());
    return content_of(folder.at("result.json"));
}

/// Parses the text after checking that it is a document that ends with a newline.
json parsed(const std::string& text) {
    EXPECT_TRUE(text.ends_with("}\n"));
    return json::parse(text);
}

TEST(JsonReport, TheRunAsAWhole) {
    AllResults run;
    run.duration = std::chrono::nanoseconds(1234567890123456789);
    EngineInfo engine;
    engine.name = "d3d12";
    engine.adapter = "GPU \"1\"";
    engine.driver = "driver 5";
    engine.libraries = {{"vkd3d", "1.17"}, {"mesa", "22"}};
    engine.feature_level = {5, 2};
    EngineInfo started;
    started.name = "exec:mine";
    started.command = "ssh box 'my worker'";
    run.engines = {engine, EngineInfo{}, started};
    const json document = parsed(report_of(run, context()));
    EXPECT_EQ(document.at("format"), "dmlconform-result");
    EXPECT_EQ(document.at("formatVersion"), 1);
    EXPECT_EQ(document.at("versions"), json({{"dmlconform", "1.2.3"}, {"fmt", "9.1.0"}}));
    EXPECT_EQ(document.at("command"), json({"dmlconform", "run", "a b.json"}));
    EXPECT_EQ(document.at("started"), "2024-05-06T07:08:09Z");
    EXPECT_EQ(document.at("durationNanoseconds"), 1234567890123456789);
    EXPECT_EQ(document.at("exitCode"), 1);
    ASSERT_EQ(document.at("engines").size(), 3u);
    EXPECT_EQ(document.at("engines")[2].at("command"), "ssh box 'my worker'");
    EXPECT_EQ(document.at("engines")[0], json({{"name", "d3d12"},
                                               {"adapter", "GPU \"1\""},
                                               {"driver", "driver 5"},
                                               {"libraries", {{"vkd3d", "1.17"}, {"mesa", "22"}}},
                                               {"featureLevel", "5.2"}}));
    EXPECT_EQ(document.at("engines")[1].at("libraries"), json::object());
    const json none{{"pass", 0},    {"fail", 0},      {"skip", 0},  {"error", 0}, {"crash", 0},
                    {"timeout", 0}, {"reference", 0}, {"xfail", 0}, {"xpass", 0}, {"flake", 0}};
    EXPECT_EQ(document.at("summary"), none);
    EXPECT_EQ(document.at("unspecified"), none);
    EXPECT_EQ(document.at("unverified"),
              json({{"cases", 0}, {"inPart", 0}, {"powerless", 0}, {"filters", json::array()}}));
    EXPECT_EQ(document.at("precision"), json({{"fp32", 0}, {"less", 0}, {"cannotTell", 0}}));
    EXPECT_EQ(document.at("results"), json::array());
    EXPECT_EQ(document.at("machine"), "M");
    EXPECT_EQ(document.size(), 14u) << "what is new here needs a test, and a line in docs/result-format.md";
}

TEST(JsonReport, VersionsKeepTheirOrder) {
    RunContext with_versions = context();
    with_versions.versions = {{"zlib", "1"}, {"abseil", "2"}};
    const std::string text = report_of(AllResults{}, with_versions);
    EXPECT_LT(text.find("zlib"), text.find("abseil"));
}

TEST(JsonReport, AGraph) {
    const auto cases = cases_of({R"({ "name": "model", "description": "ONNX model, 1 of 2 nodes",
      "graph": { "nodes": [{ "name": "relu", "operator": "ACTIVATION_RELU",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } },
        "inputs": { "InputTensor": "x" }, "outputs": { "OutputTensor": "y" } }], "outputs": ["y"] },
      "inputs": { "x": [1, -1] }, "expected": { "y": [1, 0] } })"},
                                "folder/some.json");
    Engines engines;
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    AllResults run = run_all(cases, engines);
    const auto graph = [&] { return parsed(report_of(run, context())).at("results").back().at("graph"); };
    run.results.back().nodes.reset();
    EXPECT_EQ(graph(), json({{"nodes", 1}, {"description", "ONNX model, 1 of 2 nodes"}}));
    auto cut = std::make_shared<cases::Case>(*run.results.back().subject);
    cut->cuts = {"last (NonMaxSuppression): no sizes"};
    run.results.back().subject = cut;
    run.results.back().nodes = run::NodeVerdicts{.judged = 1, .wrong = {"relu"}};
    EXPECT_EQ(graph(), json({{"nodes", 1},
                             {"description", "ONNX model, 1 of 2 nodes"},
                             {"cuts", {"last (NonMaxSuppression): no sizes"}},
                             {"distinctNodes", 1},
                             {"wrongNodes", {"relu"}}}));
    auto node = std::make_shared<cases::Case>(*cut);
    node->graph_id = "net";
    node->node_name = "conv/1";
    run.results.back().subject = node;
    const json written = parsed(report_of(run, context())).at("results").back();
    EXPECT_EQ(written.at("nodeOf"), "net");
    EXPECT_EQ(written.at("node"), "conv/1");
}

TEST(JsonReport, AFailure) {
    const auto cases = cases_of({R"({ "name": "wrong", "operator": "SLICE1", "tags": ["doc", "ü"],
      "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 2] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 2] },
                "InputWindowOffsets": [0, 0], "InputWindowSizes": [2, 2], "InputWindowStrides": [1, 1] },
      "inputs": { "InputTensor": ["0x7f800001", "-inf", 0.1, -0.0] },
      "expected": { "OutputTensor": [1, "-inf", 0.10000001, 0.0] }, "tolerance": { "*": { "ulp": 4 } } })"},
                                "folder/some.json");
    Engines engines;
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    AllResults run = run_all(cases, engines);
    run.results[0].timing = {std::chrono::nanoseconds(3000), std::chrono::nanoseconds(2000),
                             std::chrono::nanoseconds(1000), std::chrono::nanoseconds(500)};
    const json document = parsed(report_of(run, context()));
    EXPECT_EQ(document.at("summary").at("fail"), 1);
    ASSERT_EQ(document.at("results").size(), 1u);
    const json& result = document.at("results")[0];
    EXPECT_EQ(result.at("id"), "some/wrong");
    EXPECT_EQ(result.at("operator"), "DML_OPERATOR_SLICE1");
    EXPECT_EQ(result.at("file"), "folder/some.json");
    EXPECT_EQ(result.at("line"), 2);
    EXPECT_EQ(result.at("tags"), json({"doc", "ü"}));
    EXPECT_EQ(result.at("engine"), "fake");
    EXPECT_EQ(result.at("status"), "fail");
    EXPECT_EQ(result.at("gated"), true);
    EXPECT_EQ(result.at("reason"), "the output differs beyond tolerance");
    EXPECT_FALSE(result.contains("rejection"));
    EXPECT_EQ(result.at("descriptor"),
              json({"InputTensor: FLOAT32 [2,2]", "OutputTensor: FLOAT32 [2,2]", "DimensionCount: 2",
                    "InputWindowOffsets: [0,0]", "InputWindowSizes: [2,2]", "InputWindowStrides: [1,1]"}));
    EXPECT_EQ(result.at("timing"), json({{"totalNanoseconds", 3000},
                                         {"executeNanoseconds", 2000},
                                         {"deviceNanoseconds", 1000},
                                         {"steadyNanoseconds", 500}}));
    ASSERT_EQ(result.at("outputs").size(), 1u);
    EXPECT_EQ(
        result.at("outputs")[0],
        json({{"name", "OutputTensor"},
              {"dataType", "FLOAT32"},
              {"sizes", {2, 2}},
              {"expectedFrom", "case"},
              {"tolerance", "4 ulp"},
              {"elements", 4},
              {"beyondTolerance", 1},
              {"largestToleranceUsed", 0.25},
              {"ulpHistogram",
               {{"0", 2},
                {"1", 1},
                {"2", 0},
                {"3-4", 0},
                {"5-8", 0},
                {"9-16", 0},
                {"17-32", 0},
                {"33-64", 0},
                {">64", 0},
                {"NaN", 1}}},
              {"worst",
               {{"index", 0},
                {"coordinates", {0, 0}},
                {"expected", "1"},
                {"expectedBits", "0x3f800000"},
                {"actual", "nan"},
                {"actualBits", "0x7f800001"},
                {"ulp", nullptr}}},
              {"errorMap",
               {{"rows", 2}, {"columns", 2}, {"used", {nullptr, 0.0, 0.25, 0.0}}, {"wrong", {1.0, 0.0, 0.0, 0.0}}}}}));
}

TEST(JsonReport, DistancesOf64Bits) {
    const auto cases = cases_of({R"({ "name": "wrong", "operator": "SLICE1",
      "desc": { "InputTensor": { "DataType": "UINT64", "Sizes": [1] }, "OutputTensor": { "DataType": "UINT64", "Sizes": [1] },
                "InputWindowOffsets": [0], "InputWindowSizes": [1], "InputWindowStrides": [1] },
      "inputs": { "InputTensor": [18446744073709551615] }, "expected": { "OutputTensor": [0] } })"});
    Engines engines;
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    const json document = parsed(report_of(run_all(cases, engines), context()));
    const json& output = document.at("results")[0].at("outputs")[0];
    EXPECT_EQ(output.at("worst").at("ulp"), 18446744073709551615u);
    EXPECT_EQ(output.at("worst").at("actual"), "18446744073709551615");
    EXPECT_FALSE(output.contains("largestToleranceUsed")) << "exact";
}

TEST(JsonReport, StrayWrites) {
    const auto cases = cases_of({slice_with_expected});
    Engines engines;
    Behaviour astray;
    astray.change = [](std::span<core::Tensor* const> outputs) {
        outputs[0]->buffer.bytes()[core::guard_offset(outputs[0]->desc) + 7] = std::byte{0};
    };
    engines.push_back(std::make_unique<FakeEngine>(astray));
    const json document = parsed(report_of(run_all(cases, engines), context()));
    const json& result = document.at("results")[0];
    EXPECT_EQ(result.at("status"), "fail");
    EXPECT_EQ(result.at("strayWrites"), json::array({{{"output", "OutputTensor"}, {"offset", 7}, {"bytes", 1}}}));
    EXPECT_EQ(result.at("outputs")[0].at("beyondTolerance"), 0);
}

TEST(JsonReport, WhatIsNotThereIsLeftOut) {
    const auto cases = cases_of({slice_with_expected, illegal_slice});
    Engines engines;
    Behaviour fussy;
    fussy.compile_failure = rejected(core::HResult::invalid_argument, "no");
    fussy.compile_failure->rejection.legal_from = core::FeatureLevel{4, 1};
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    engines.push_back(std::make_unique<FakeEngine>(fussy));
    const json document = parsed(report_of(run_all(cases, engines), context()));
    const json& results = document.at("results");
    ASSERT_EQ(results.size(), 4u);
    // A pass whose elements are equal.
    EXPECT_EQ(results[0].at("status"), "pass");
    EXPECT_FALSE(results[0].contains("reason"));
    EXPECT_FALSE(results[0].at("outputs")[0].contains("worst"));
    EXPECT_FALSE(results[0].contains("strayWrites"));
    EXPECT_TRUE(results[0].contains("timing"));
    EXPECT_FALSE(results[0].at("timing").contains("deviceNanoseconds"));
    // A wrong rejection, a right one, and a wrong acceptance: nothing was executed.
    EXPECT_EQ(results[1].at("status"), "fail");
    EXPECT_EQ(
        results[1].at("rejection"),
        json({{"code", "E_INVALIDARG"}, {"rule", "test.rule"}, {"message", "no"}, {"legalFromFeatureLevel", "4.1"}}));
    EXPECT_EQ(results[2].at("status"), "fail");
    EXPECT_FALSE(results[2].contains("rejection"));
    EXPECT_EQ(results[3].at("status"), "pass");
    for (const std::size_t i : {1u, 2u, 3u}) {
        EXPECT_FALSE(results[i].contains("timing"));
        EXPECT_EQ(results[i].at("outputs"), json::array());
    }
    EXPECT_EQ(document.at("summary"), json({{"pass", 2},
                                            {"fail", 2},
                                            {"skip", 0},
                                            {"error", 0},
                                            {"crash", 0},
                                            {"timeout", 0},
                                            {"reference", 0},
                                            {"xfail", 0},
                                            {"xpass", 0},
                                            {"flake", 0}}));
}

TEST(JsonReport, WhatIsOffTheGate) {
    std::string text(slice_with_wrong_expected);
    text.insert(1, R"("tags": ["unspecified"], )");
    const auto cases = cases_of({slice_with_expected, text});
    Engines engines;
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    const json document = parsed(report_of(run_all(cases, engines), context()));
    EXPECT_EQ(document.at("summary").at("fail"), 0);
    EXPECT_EQ(document.at("summary").at("pass"), 1);
    EXPECT_EQ(document.at("unspecified").at("fail"), 1);
    EXPECT_EQ(document.at("unspecified").at("pass"), 0);
    EXPECT_EQ(document.at("results")[1].at("gated"), false);
}

TEST(JsonReport, WordsThatAreNotUtf8AreReplaced) {
    RunContext odd = context();
    odd.command = {"dmlconform", "run", "caf\xE9.json", "\xFF\xFE", "good ü"};
    AllResults run;
    EngineInfo engine;
    engine.adapter = "G\xFCnstig";
    run.engines = {engine};
    const json document = parsed(report_of(run, odd));
    ASSERT_EQ(document.at("command").size(), 5u);
    EXPECT_EQ(document.at("command")[2], "caf\xEF\xBF\xBD.json");
    EXPECT_EQ(document.at("command")[4], "good ü");
    EXPECT_EQ(document.at("engines")[0].at("adapter"), "G\xEF\xBF\xBDnstig");
}

}  // namespace
}  // namespace dmlconform::tests::json_report_test
