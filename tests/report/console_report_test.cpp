// Tests of engine/report/console_report: the text for a failure, and the totals.
#include "engine/report/console_report.h"

#include <gtest/gtest.h>

#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::console_report_test {
namespace {

using report::ConsoleStyle;
using report::format_duration;
using run::CaseResult;
using run::Status;

const ConsoleStyle plain(false);

// The block as plain text, in which tests can search.
std::string block_text(const CaseResult& result, const EngineInfo& engine, const report::Caller& caller,
                       const ConsoleStyle& style) {
    return report::failure_block(result, engine, caller, style);
}
std::string line_text(const CaseResult& result, const EngineInfo& engine, const ConsoleStyle& style) {
    return report::result_line(result, engine, style);
}
std::string comparison_text(const CaseResult& result) {
    return report::comparison_lines(result);
}
std::string summary_text(const run::RunTotals& totals, const ConsoleStyle& style) {
    return report::summary(totals, style);
}

using Engines = std::vector<std::unique_ptr<Engine>>;

Engines one_engine(Behaviour behaviour = {}) {
    Engines engines;
    engines.push_back(std::make_unique<FakeEngine>(std::move(behaviour)));
    return engines;
}

/// The result of a run with a single case and engine.
CaseResult result_of(const std::vector<cases::Case>& cases, const Engines& engines) {
    return run_all(cases, engines).results.at(0);
}

TEST(FailureBlock, TellsEverything) {
    const auto cases = cases_of({R"({ "name": "doc/wrong", "operator": "SLICE1",
      "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2, 3], "Strides": [4, 1] },
                "InputWindowOffsets": [0, 0], "InputWindowSizes": [2, 3], "InputWindowStrides": [1, 1] },
      "inputs": { "InputTensor": { "start": 1, "step": 1 } },
      "expected": { "OutputTensor": [1, 2, 3.0000002, 4, 5, 6.5] }, "tolerance": { "*": { "ulp": 1 } } })"},
                                "folder/some.json");
    const auto engines = one_engine();
    const std::string block =
        block_text(result_of(cases, engines), engines[0]->info(), {"build/dmlconform", {}}, plain);
    EXPECT_EQ(block, R"(FAIL some/doc/wrong on fake (made up)
  reason      the output differs beyond tolerance
  note        suspect the expected values: fake agrees with the reference
  operator    DML_OPERATOR_SLICE1
  case        folder/some.json:2
  descriptor  InputTensor: FLOAT32 [2,3]
              OutputTensor: FLOAT32 [2,3] strides [4,1]
              DimensionCount: 2
              InputWindowOffsets: [0,0]
              InputWindowSizes: [2,3]
              InputWindowStrides: [1,1]
  output      OutputTensor: 1 of 6 elements beyond tolerance (1 ulp); expected values from the case file
  elements    expected | actual, * beyond tolerance
    [0,0]          1         2 3.0000002 |         1          2          3
    [1,0]          4         5       6.5 |         4          5          6*
  worst       OutputTensor[1,2]
    expected  6.5 (0x40d00000)
    actual    6 (0x40c00000)
    distance  1048576 ULP
  ULPs        0: 4, 1: 1, >64: 1
  run again   build/dmlconform run folder/some.json --filter some/doc/wrong --engine fake --adapter 'made up'
)");
}

TEST(FailureBlock, NanHasNoDistance) {
    const auto cases = cases_of({slice_with_wrong_expected});
    const auto engines = one_engine();
    const std::string block = block_text(result_of(cases, engines), engines[0]->info(), {"x", {}}, plain);
    EXPECT_NE(block.find("  worst       OutputTensor[1]\n"
                         "    expected  nan (0x7fc00000)\n"
                         "    actual    3 (0x40400000)\n"
                         "    distance  one of the two is NaN\n"
                         "  ULPs        0: 1, NaN: 1\n"),
              std::string::npos)
        << block;
}

TEST(FailureBlock, ShowsOnlyOutputsThatDiffer) {
    const auto cases = cases_of({top_k_half_expected});
    Behaviour wrong_value;
    wrong_value.change = [](auto outputs) { outputs[0]->template as<std::int8_t>()[0] = 4; };
    const auto engines = one_engine(std::move(wrong_value));
    const std::string block = block_text(result_of(cases, engines), engines[0]->info(), {"x", {}}, plain);
    EXPECT_NE(block.find("output      OutputValueTensor: 1 of 1 elements beyond tolerance (exact); expected values "
                         "from the CPU reference"),
              std::string::npos)
        << block;
    EXPECT_EQ(block.find("output      OutputIndexTensor"), std::string::npos) << block;
}

TEST(FailureBlock, Rejections) {
    const auto cases = cases_of({slice_with_expected});
    Behaviour rejecting;
    rejecting.compile_failure = rejected(core::HResult::invalid_argument, "window too small");
    rejecting.compile_failure->rejection.legal_from = core::FeatureLevel{4, 1};
    const auto engines = one_engine(std::move(rejecting));
    const std::string block = block_text(result_of(cases, engines), engines[0]->info(), {"x", {}}, plain);
    EXPECT_NE(
        block.find("FAIL some/with-expected on fake (made up)\n"
                   "  reason      the descriptor was rejected with E_INVALIDARG: window too small; it is legal by the "
                   "catalogue\n"
                   "  rule        test.rule\n"
                   "              legal from feature level 4.1 on\n"),
        std::string::npos)
        << block;
    EXPECT_EQ(block.find("output "), std::string::npos) << "nothing was compared";
}

/// Workers need not name a rule.
TEST(FailureBlock, RejectionsWithoutARule) {
    Behaviour rejecting;
    rejecting.compile_failure = rejected(core::HResult::invalid_argument);
    rejecting.compile_failure->rejection.rule = "";
    const auto cases = cases_of({slice_with_expected});
    const auto unnamed = one_engine(rejecting);
    EXPECT_EQ(block_text(result_of(cases, unnamed), unnamed[0]->info(), {"x", {}}, plain).find("  rule"),
              std::string::npos);
    rejecting.compile_failure->rejection.legal_from = core::FeatureLevel{4, 1};
    const auto legal_later = one_engine(rejecting);
    const std::string block = block_text(result_of(cases, legal_later), legal_later[0]->info(), {"x", {}}, plain);
    EXPECT_NE(block.find("  rule        legal from feature level 4.1 on\n"), std::string::npos) << block;
}

TEST(FailureBlock, Errors) {
    const auto cases = cases_of({slice_with_expected});
    Behaviour failing;
    failing.execute_error = "device lost";
    const auto engines = one_engine(std::move(failing));
    const std::string block = block_text(result_of(cases, engines), engines[0]->info(), {"x", {}}, plain);
    EXPECT_TRUE(block.starts_with("ERROR some/with-expected on fake (made up)\n  reason      device lost\n")) << block;
}

std::string last_line(std::string text) {
    text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

struct RerunRow {
    std::string program;
    std::string file;
    std::string adapter;
    std::string command;
};

TEST(FailureBlock, TheCommandToRunAgainIsQuotedForAShell) {
    const RerunRow rows[] = {
        {"dmlconform", "a.json", "GPU", "dmlconform run a.json --filter a/wrong-expected --engine fake --adapter GPU"},
        {"./my build/dmlconform", "a b.json", "GPU (1)",
         "'./my build/dmlconform' run 'a b.json' --filter 'a b/wrong-expected' --engine fake --adapter 'GPU (1)'"},
        {"d", "it's.json", "\"x\"",
         R"(d run 'it'\''s.json' --filter 'it'\''s/wrong-expected' --engine fake --adapter '"x"')"},
        {"d", "$HOME`ls`.json", "a;b",
         "d run '$HOME`ls`.json' --filter '$HOME`ls`/wrong-expected' --engine fake --adapter 'a;b'"},
        {"d", "x/ä.json", "ö", "d run 'x/ä.json' --filter 'ä/wrong-expected' --engine fake --adapter 'ö'"},
        {"d", "a\nb.json", "", "d run $'a\\nb.json' --filter $'a\\nb/wrong-expected' --engine fake"},
        {"d", "a\n'\\b.json", "", R"(d run $'a\n\'\\b.json' --filter $'a\n\'\\b/wrong-expected' --engine fake)"},
        {"d", "-a.json", "x", "d run ./-a.json --filter -a/wrong-expected --engine fake --adapter x"},
        {"~/d", "#a.json", "!", "'~/d' run '#a.json' --filter '#a/wrong-expected' --engine fake --adapter '!'"},
        {"C:\\d", "a&b.json", "x", R"('C:\d' run 'a&b.json' --filter 'a&b/wrong-expected' --engine fake --adapter x)"},
    };
    for (const RerunRow& row : rows) {
        const auto cases = cases_of({slice_with_wrong_expected}, row.file);
        const auto engines = one_engine();
        EngineInfo info = engines[0]->info();
        info.adapter = row.adapter;
        const std::string block = block_text(result_of(cases, engines), info, {row.program, {}}, plain);
        EXPECT_TRUE(block.ends_with("  run again   " + row.command + "\n")) << block << row.command;
    }
}

TEST(FailureBlock, TheCommandToRunAgainRunsItInTheSameWay) {
    const auto cases = cases_of({slice_with_wrong_expected});
    const auto engines = one_engine();
    CaseResult result = result_of(cases, engines);
    EngineInfo info = engines[0]->info();
    info.name = "cpu";
    info.is_reference = true;
    const std::string base = "  run again   x run some.json --filter some/wrong-expected --engine cpu";
    EXPECT_EQ(last_line(block_text(result, info, {"x", {}}, plain)), base);
    info.feature_level = {4, 1};
    EXPECT_EQ(last_line(block_text(result, info, {"x", {}}, plain)), base + " --feature-level 4.1");
    EXPECT_EQ(last_line(block_text(result, info, {"x", {"--allow-external-data", "a b"}}, plain)),
              base + " --feature-level 4.1 --allow-external-data 'a b'");
    cases::Case unspecified = cases[0];
    unspecified.tags = {"unspecified"};
    result.subject = std::make_shared<const cases::Case>(std::move(unspecified));
    info.feature_level = core::highest_feature_level;
    EXPECT_EQ(last_line(block_text(result, info, {"x", {}}, plain)), base + " --include-unspecified");
}

TEST(FailureBlock, EnginesThatACommandStarted) {
    const auto cases = cases_of({slice_with_wrong_expected});
    EngineInfo engine = one_engine()[0]->info();
    engine.name = "exec:mine";
    engine.command = "ssh box 'my worker'";
    engine.feature_level = {5, 0};
    CaseResult result = result_of(cases, one_engine());
    result.status = Status::crash;
    const std::string block = block_text(result, engine, {"x", {"--timeout=5"}}, plain);
    EXPECT_TRUE(block.starts_with("CRASH some/wrong-expected on exec:mine (made up)\n")) << block;
    EXPECT_NE(block.find(R"( --engine 'exec:ssh box '\''my worker'\''' --timeout=5)"), std::string::npos) << block;
    result.status = Status::timeout;
    EXPECT_TRUE(block_text(result, engine, {"x", {}}, plain).starts_with("TIMEOUT "));
}

TEST(ResultLine, Forms) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, illegal_slice, normalization});
    Behaviour fussy;
    fussy.compile_failure = rejected(core::HResult::invalid_argument);
    const auto engines = one_engine();
    const auto fussy_engines = one_engine(std::move(fussy));
    const AllResults run = run_all(cases, engines);
    const auto line = [&](const CaseResult& result) { return line_text(result, engines[0]->info(), plain); };
    EXPECT_EQ(line(run.results[0]), "pass      some/with-expected on fake\n");
    EXPECT_EQ(comparison_text(run.results[0]), "    OutputTensor: exact; elements by ULPs: 0: 2\n");
    EXPECT_EQ(
        line(run.results[2]),
        "fail      some/illegal on fake: the descriptor was accepted, but has to be rejected with E_INVALIDARG; by the "
        "catalogue it is illegal: SLICE1.windowStride\n");
    const AllResults fussy_run = run_all(cases, fussy_engines);
    EXPECT_EQ(line(fussy_run.results[2]), "pass      some/illegal on fake\n");
    EXPECT_EQ(comparison_text(run.results[2]), "");
    EXPECT_EQ(comparison_text(run.results[3]),
              "    OutputTensor: the formula on intervals: sums in a tree, or with n independent roundings, what "
              "Direct3D allows "
              "each operation, and for FLOAT16 a mean and a variance that may be FLOAT16 tensors, largest difference 0 "
              "of that; elements by ULPs: 0: 4\n"
              "    OutputTensor: 4 elements can tell the precision, which are too few or too similar\n");
    CaseResult skipped = fussy_run.results[0];
    skipped.status = Status::skip;
    skipped.reason = "no such thing";
    skipped.gated = false;
    EXPECT_EQ(line(skipped), "skip      some/with-expected on fake: no such thing (unspecified)\n");
}

TEST(Summary, TotalsByOperatorAndEngine) {
    const auto cases = cases_of({slice_with_expected, slice_with_wrong_expected, top_k_half_expected});
    Engines engines = one_engine();
    Behaviour absent;
    absent.name = "absent";
    absent.unsupported = "no";
    engines.push_back(std::make_unique<FakeEngine>(absent));
    AllResults run = run_all(cases, engines);
    for (CaseResult& result : run.results) {
        result.timing = {};  // times would differ between runs
    }
    run.duration = std::chrono::milliseconds(12);
    EXPECT_EQ(summary_text(run.totals(), plain),
              "operator             engine  pass  fail  skip  total time  execution\n"
              "SLICE1               fake       1     1     0        0 ns          -\n"
              "TOP_K1               fake       1     0     0        0 ns          -\n"
              "2 operators skipped  absent     0     0     3        0 ns          -\n"
              "all                  fake       2     1     0        0 ns          -\n"
              "all                  absent     0     0     3        0 ns          -\n"
              "\n"
              "6 results in 12.0 ms: 2 pass, 1 fail, 3 skip\n");
}

TEST(Summary, LostEnginesHaveColumnsWhenThereAreSome) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected});
    AllResults run = run_all(cases, one_engine());
    EXPECT_EQ(summary_text(run.totals(), plain).find("crash"), std::string::npos);
    run.results[1].status = Status::timeout;
    run.engines[0].name = "exec:a-long-name";
    const std::string text = summary_text(run.totals(), plain);
    EXPECT_NE(text.find("engine            pass  timeout"), std::string::npos) << text;
    EXPECT_NE(text.find("exec:a-long-name     1        1"), std::string::npos) << text;
    EXPECT_NE(text.find(": 1 pass, 1 timeout\n"), std::string::npos) << text;
}

TEST(Summary, TimesAndTheirMedian) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, normalization});
    const auto engines = one_engine();
    AllResults run = run_all(cases, engines);
    run.results[0].timing = {std::chrono::microseconds(1), std::chrono::nanoseconds(300), std::nullopt};
    run.results[1].timing = {std::chrono::microseconds(2), std::chrono::nanoseconds(900),
                             std::chrono::nanoseconds(100)};
    run.results[2].timing = {std::chrono::microseconds(4), std::chrono::nanoseconds(5000), std::nullopt};
    const std::string text = summary_text(run.totals(), plain);
    EXPECT_NE(text.find("SLICE1                        fake       2     3.00 µs     300 ns\n"), std::string::npos)
        << text << "the device's own time counts before the wall clock's: 100 and 300";
    EXPECT_NE(text.find("all                           fake       3     7.00 µs     300 ns\n"), std::string::npos)
        << text;
}

TEST(Summary, SaysWhenNothingWasVerified) {
    const std::string warning = "Nothing was verified: no case passed or failed.\n";
    EXPECT_NE(summary_text(run::RunTotals{}, plain).find("0 results in 0 ns: none on the gate\n" + warning),
              std::string::npos)
        << summary_text(run::RunTotals{}, plain);
    const auto cases = cases_of({slice_with_expected});
    Behaviour absent;
    absent.unsupported = "no";
    const auto engines = one_engine(absent);
    const std::string skipped = summary_text(run_all(cases, engines).totals(), plain);
    EXPECT_NE(skipped.find(": 1 skip\n" + warning), std::string::npos) << skipped;
    EXPECT_NE(skipped.find("\n1 result in "), std::string::npos) << skipped;
    EXPECT_EQ(summary_text(run_all(cases, one_engine()).totals(), plain).find(warning), std::string::npos);
    EXPECT_EQ(summary_text(run_all(cases_of({slice_with_wrong_expected}), one_engine()).totals(), plain).find(warning),
              std::string::npos)
        << "a failure is a verification too";
}

TEST(Summary, ResultsOffTheGateAreCountedApart) {
    std::string text(slice_with_wrong_expected);
    text.insert(1, R"("tags": ["unspecified"], )");
    const auto cases = cases_of({slice_with_expected, text});
    const std::string written = summary_text(run_all(cases, one_engine()).totals(), plain);
    EXPECT_NE(written.find(": 1 pass\nNot counted, because no source says what is right (tag `unspecified`): 1 fail\n"
                           "  failed: some/wrong-expected on fake\n"),
              std::string::npos)
        << written;
    EXPECT_NE(written.find("SLICE1    fake       1  "), std::string::npos) << written;
}

TEST(ConsoleStyle, ColoursOnlyWhenAskedFor) {
    const ConsoleStyle colored(true);
    const auto status = [](const ConsoleStyle& style, Status which) {
        return style.status(which, core::show("text")).text();
    };
    for (std::size_t i = 0; i < run::status_count; ++i) {
        EXPECT_EQ(status(plain, static_cast<Status>(i)), "text");
        const std::string painted = status(colored, static_cast<Status>(i));
        EXPECT_TRUE(painted.starts_with("\x1b[")) << i;
        EXPECT_TRUE(painted.ends_with("\x1b[0m")) << i;
        EXPECT_NE(painted.find("text"), std::string::npos);
    }
    EXPECT_EQ(plain.bold(core::show("x")).text(), "x");
    EXPECT_EQ(plain.faint(core::show("x")).text(), "x");
    EXPECT_EQ(status(colored, Status::fail), status(colored, Status::error));
    EXPECT_NE(status(colored, Status::fail), status(colored, Status::pass));
    EXPECT_NE(status(colored, Status::skip), status(colored, Status::pass));
    EXPECT_NE(colored.bold(core::show("x")).text(), "x");
    // Braces in texts are not format specifiers.
    EXPECT_EQ(plain.bold(core::show("{}", "{}")).text(), "{}");
    EXPECT_NE(colored.bold(core::show("{}", "{0}")).text().find("{0}"), std::string::npos);
}

TEST(FormatDuration, ThreeDigitsInTheLargestUnit) {
    const std::pair<std::int64_t, std::string_view> rows[] = {
        {0, "0 ns"},
        {1, "1 ns"},
        {999, "999 ns"},
        {1000, "1.00 µs"},
        {12345, "12.3 µs"},
        {123456, "123 µs"},
        {999'400, "999 µs"},
        {1'000'000, "1.00 ms"},
        {59'960'000, "60.0 ms"},
        {1'000'000'000, "1.00 s"},
        {1'234'567'890'123, "1235 s"},
    };
    for (const auto& [nanoseconds, text] : rows) {
        EXPECT_EQ(format_duration(std::chrono::nanoseconds(nanoseconds)), text) << nanoseconds;
    }
}

}  // namespace
}  // namespace dmlconform::tests::console_report_test
