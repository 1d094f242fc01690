// Tests of precision and power in all reports of a run: JSON, JUnit and the console.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/report/console_report.h"
#include "engine/report/json_report.h"
#include "engine/report/junit_report.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::precision_reports_test {
namespace {

using nlohmann::json;

/// A pass in FP32 and a failure in TF32, with 100 elements each. The tolerance of the first one has no power.
AllResults results() {
    std::string other(slice_with_expected);
    other.replace(other.find("with-expected"), 13, "other");
    const auto cases = cases_of({slice_with_expected, std::string_view(other)});
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    AllResults run = run_all(cases, engines);
    run::OutputPrecision precision;
    precision.statistic.elements = 100;
    precision.statistic.different = 64;
    precision.statistic.squares = 100 * 0.25;
    precision.statistic.towards_zero = 5;
    precision.computes_as = "FP32";
    run.results.at(0).outputs.at(0).precision = precision;
    run.results.at(0).outputs.at(0).powerless = "the tolerance also accepts zeros";
    precision.statistic.squares = 100 * 256.0 * 256;
    precision.computes_as = "TF32 (11 bits)";
    precision.promised = "FP32";
    run.results.at(1).outputs.at(0).precision = precision;
    run.results.at(1).status = run::Status::fail;
    return run;
}

/// The file that the report writes.
template <class Report>
std::string written(Report& sink, const std::string& path, const AllResults& run) {
    EXPECT_TRUE(sink.begin({{"dmlconform"}, {}, "", "M"}, run.engines).has_value());
    for (const run::CaseResult& result : run.results) {
        EXPECT_TRUE(sink.add(result).has_value());
    }
    EXPECT_TRUE(sink.finish(run.totals(), 1).has_value());
    return content_of(path);
}

TEST(PrecisionReports, Json) {
    const TemporaryFolder folder;
    report::JsonReport sink(folder.at("r.json"));
    const json document = json::parse(written(sink, folder.at("r.json"), results()));
    const json& pass = document.at("results")[0].at("outputs")[0];
    EXPECT_EQ(pass.at("precision"), json({{"elements", 100},
                                          {"different", 64},
                                          {"q", 0.5},
                                          {"bias", 0.05},
                                          {"effectiveBits", 24.0},
                                          {"computesAs", "FP32"}}));
    EXPECT_EQ(pass.at("powerless"), "the tolerance also accepts zeros");
    const json& failure = document.at("results")[1].at("outputs")[0];
    EXPECT_EQ(failure.at("precision").at("effectiveBits"), 16.0);
    EXPECT_EQ(failure.at("precision").at("computesAs"), "TF32 (11 bits)");
    EXPECT_EQ(failure.at("precision").at("promised"), "FP32");
    EXPECT_FALSE(failure.contains("powerless"));
    EXPECT_EQ(document.at("precision"), json({{"fp32", 1}, {"less", 1}, {"cannotTell", 0}}));
}

TEST(PrecisionReports, Junit) {
    const TemporaryFolder folder;
    report::JunitReport sink(folder.at("r.xml"), {"dmlconform", {}});
    const std::string text = written(sink, folder.at("r.xml"), results());
    EXPECT_NE(text.find("<properties><property name=\"precision.OutputTensor\" value=\"FP32, Q 0.5\"/></properties>"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("value=\"TF32 (11 bits), Q 256\"/></properties><failure"), std::string::npos) << text;
}

TEST(PrecisionReports, Console) {
    const AllResults run = results();
    const std::string pass = report::comparison_lines(run.results.at(0));
    EXPECT_NE(pass.find("    OutputTensor: computes as FP32 (Q 0.5, bias 0.05 towards zero, 24.0 effective bits, 100 "
                        "elements)\n"
                        "    OutputTensor: passing says nothing: the tolerance also accepts zeros\n"),
              std::string::npos)
        << pass;
    const std::string failure =
        report::failure_block(run.results.at(1), run.engines.at(0), {"dmlconform", {}}, report::ConsoleStyle(false));
    EXPECT_NE(failure.find("OutputTensor: computes as TF32 (11 bits) (Q 256,"), std::string::npos) << failure;
    const std::string summary = report::summary(run.totals(), report::ConsoleStyle(false));
    EXPECT_NE(summary.find("\nComputed in less than FP32: 1 of 2 outputs that can tell\n"), std::string::npos)
        << summary;
}

}  // namespace
}  // namespace dmlconform::tests::precision_reports_test
