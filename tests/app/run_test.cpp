// Tests of `dmlconform run` as CI jobs and people use it: exit codes, output, the result file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/engine_limits.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::run_test {
namespace {

using nlohmann::json;

class Run : public testing::Test {
protected:
    TemporaryFolder folder_;
    std::string good_ = folder_.write("good.json", good_file());
    std::string bad_ = folder_.write("bad.json", bad_file());
};

TEST_F(Run, ZeroWhenEverythingIsAsExpected) {
    const ProgramResult result = dmlconform({"run", good_});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, fmt::format("1 case on {} engine{}\n  cpu     reference on ", usable_engines().size(),
                                           usable_engines().size() == 1 ? "" : "s")));
    EXPECT_TRUE(prints(result, fmt::format("{} pass\n", usable_engines().size())));
    EXPECT_EQ(occurrences(result.output, "FAIL"), 0u);
}

TEST_F(Run, OneWhenAnElementIsWrong) {
    for (const std::string& engine : usable_engines()) {
        const ProgramResult result = dmlconform({"run", bad_, "--engine", engine});
        EXPECT_TRUE(ends_with_code(result, 1));
        EXPECT_EQ(occurrences(result.output, "FAIL "), 1u) << result.all();
        EXPECT_TRUE(prints(result, "FAIL bad/bad on " + engine));
        EXPECT_TRUE(prints(
            result,
            "worst       OutputTensor[1]\n    expected  3.0000002 (0x40400001)\n    actual    3 (0x40400000)\n"));
        EXPECT_TRUE(prints(result, fmt::format("case        {}:6\n", bad_)));
        EXPECT_TRUE(prints(result, ": 1 pass, 1 fail\n"));
        EXPECT_EQ(result.errors, "");
    }
}

TEST_F(Run, OneWhenNothingWasVerified) {
    const WithoutReference resampling("RESAMPLE");
    const std::string alone = folder_.write("alone.json", file_of({slice_case("a", "")}));
    const ProgramResult reference = dmlconform({"run", alone, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(reference, 1));
    EXPECT_TRUE(prints(reference, "1 reference\nNothing was verified: no case passed or failed.\n"));
    const std::string unsupported =
        folder_.write("unsupported.json", R"({ "cases": [ { "name": "a", "operator": "RESAMPLE",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,2] },
              "InterpolationMode": "NEAREST_NEIGHBOR", "Scales": [1,1,1,1] },
        "inputs": { "InputTensor": [1, 2] }, "expected": { "OutputTensor": [1, 2] } } ] })");
    const ProgramResult skipped = dmlconform({"run", unsupported, "--verbose", "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(skipped, 1));
    EXPECT_TRUE(prints(skipped, "skip      unsupported/a on cpu: no kernel yet for RESAMPLE\n"));
    EXPECT_TRUE(prints(skipped, "Nothing was verified"));
}

TEST_F(Run, OneWhenARejectionIsWrong) {
    const std::string accepted = folder_.write(
        "accepted.json", R"({ "cases": [ { "name": "a", "operator": "SLICE1", "expectError": "E_INVALIDARG",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] } } ] })");
    const ProgramResult wrongly_accepted = dmlconform({"run", accepted});
    EXPECT_TRUE(ends_with_code(wrongly_accepted, 1));
    EXPECT_TRUE(prints(wrongly_accepted, "the descriptor was accepted, but has to be rejected with E_INVALIDARG"));
    const ProgramResult wrongly_rejected = dmlconform({"run", good_, "--engine", rejecting_worker(folder_, 2)});
    EXPECT_TRUE(ends_with_code(wrongly_rejected, 1));
    EXPECT_TRUE(prints(wrongly_rejected, "the descriptor was rejected with E_INVALIDARG: "));
    EXPECT_TRUE(prints(wrongly_rejected, "  rule        size\n"));
}

TEST_F(Run, ThreeWhenTheResultCannotBeWritten) {
    if (!std::filesystem::exists("/dev/full")) {
        GTEST_SKIP() << "there is no /dev/full here";
    }
    const ProgramResult result = dmlconform({"run", good_, "--engine", "cpu", "--json", "/dev/full"});
    EXPECT_TRUE(ends_with_code(result, 3));
    EXPECT_TRUE(complains(result, "/dev/full cannot be written: No space left on device"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Run, FiltersAndTags) {
    const std::string file = folder_.write(
        "f.json", file_of({slice_case("a/1", R"(, "tags": ["x"], "expected": { "OutputTensor": [1, 3] })"),
                           slice_case("a/2", R"(, "tags": ["x", "y"], "expected": { "OutputTensor": [1, 3] })"),
                           slice_case("b", right_values)}));
    const auto count = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"run", file, "--engine", "cpu"});
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 0));
        return std::stoi(result.output);
    };
    EXPECT_EQ(count({}), 3);
    EXPECT_EQ(count({"--filter", "*"}), 3);
    EXPECT_EQ(count({"--filter", "f/a/*"}), 2);
    EXPECT_EQ(count({"--filter", "f/a/1", "--filter", "f/b"}), 2);
    EXPECT_EQ(count({"--filter=f/?"}), 1);
    EXPECT_EQ(count({"--tag", "x"}), 2);
    EXPECT_EQ(count({"--tag", "x", "--tag", "y"}), 1);
    EXPECT_EQ(count({"--tag", "x", "--filter", "*2"}), 1);
}

TEST_F(Run, EnginesOnceEachInTheirOrder) {
    const ProgramResult twice = dmlconform({"run", good_, "--engine", "cpu", "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(twice, 0));
    EXPECT_TRUE(prints(twice, "1 case on 1 engine\n"));
    if (usable_engines().size() > 1) {
        const ProgramResult turned = dmlconform({"run", good_, "--engine", "d3d12", "--engine", "cpu"});
        EXPECT_TRUE(ends_with_code(turned, 0));
        EXPECT_LT(turned.output.find("\n  cpu "), turned.output.find("\n  d3d12 ")) << turned.all();
    }
}

TEST_F(Run, LowFeatureLevelsSkip) {
    const ProgramResult result = dmlconform({"run", good_, "--feature-level", "2.1", "--engine", "cpu", "-v"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "skip      good/good on cpu: needs feature level 3.0, the engine has 2.1\n"));
    EXPECT_TRUE(ends_with_code(dmlconform({"run", good_, "--feature-level", "3.0", "--engine", "cpu"}), 0));
}

TEST_F(Run, Quiet) {
    const ProgramResult result = dmlconform({"run", bad_, "--quiet", "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(
        result.output.starts_with("fail      bad/bad on cpu: the output differs beyond tolerance "
                                  "(1 of 2: [1] 3.0000002 expected, 3 got)\n\noperator "))
        << result.output;
    EXPECT_EQ(occurrences(result.output, "\n"), 6u) << "a line for the failure, the table, the verdict\n"
                                                    << result.output;
    const ProgramResult good = dmlconform({"run", good_, "-q", "--engine", "cpu"});
    EXPECT_TRUE(good.output.starts_with("operator ")) << good.output;
}

TEST_F(Run, Verbose) {
    const ProgramResult result = dmlconform({"run", bad_, "-v", "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "pass      bad/good on cpu\n    OutputTensor: exact; elements by ULPs: 0: 2\n"));
    EXPECT_TRUE(prints(result, "FAIL bad/bad on cpu"));
}

TEST_F(Run, UnspecifiedCasesDecideOnlyWhenAskedTo) {
    const std::string file =
        folder_.write("u.json", file_of({slice_case("a", right_values),
                                         slice_case("b", std::string(wrong_values) + R"(, "tags": ["unspecified"])")}));
    const ProgramResult off = dmlconform({"run", file, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(off, 0));
    EXPECT_TRUE(prints(off, "Not counted, because no source says what is right (tag `unspecified`): 1 fail\n"));
    EXPECT_EQ(occurrences(off.output, "FAIL"), 0u);
    const ProgramResult on = dmlconform({"run", file, "--engine", "cpu", "--include-unspecified"});
    EXPECT_TRUE(ends_with_code(on, 1));
    EXPECT_TRUE(prints(on, "FAIL u/b on cpu"));
}

TEST_F(Run, ExpansionsThatAreLeftOutAreNamed) {
    const std::string file =
        folder_.write("s.json", R"({ "cases": [ { "name": "s", "operator": "SLICE1", "skipInvalid": true,
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [4] }, "OutputTensor": { "DataType": "INT8", "Sizes": [1] },
                  "InputWindowOffsets": [0], "InputWindowSizes": ["${n}"], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [1] }, "sweep": { "n": [1, 4, 5, 0] } } ] })");
    const ProgramResult result = dmlconform({"run", file, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "2 cases on 1 engine"));
    EXPECT_TRUE(prints(result, "left out: 2 expansions of s/s whose descriptors are illegal (skipInvalid)\n"));
}

TEST_F(Run, TheResultFile) {
    const std::string path = folder_.at("result.json");
    const ProgramResult result = dmlconform({"run", bad_, "--json", path, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 1));
    const json document = json::parse(content_of(path));
    EXPECT_EQ(document.at("format"), "dmlconform-result");
    EXPECT_EQ(document.at("exitCode"), 1);
    EXPECT_EQ(document.at("command"), json({dmlconform_path(), "run", bad_, "--json", path, "--engine", "cpu"}));
    EXPECT_TRUE(document.at("versions").contains("dmlconform"));
    const std::string started = document.at("started");
    EXPECT_EQ(started.size(), 20u) << started;
    EXPECT_EQ(started.back(), 'Z');
    EXPECT_EQ(document.at("summary").at("pass"), 1);
    EXPECT_EQ(document.at("summary").at("fail"), 1);
    ASSERT_EQ(document.at("results").size(), 2u);
    EXPECT_EQ(document.at("results")[1].at("id"), "bad/bad");
    EXPECT_EQ(document.at("results")[1].at("outputs")[0].at("worst").at("coordinates"), json({1}));
    EXPECT_EQ(document.at("results")[1].at("outputs")[0].at("worst").at("expectedBits"), "0x40400001");
    // A second run replaces the first result.
    EXPECT_TRUE(ends_with_code(dmlconform({"run", good_, "--json", path, "--engine", "cpu"}), 0));
    EXPECT_EQ(json::parse(content_of(path)).at("exitCode"), 0);
    EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

/// Runs a case file of each name (`first`) alone, which is shown as `second`, and then all of them.
void run_files_called(const TemporaryFolder& folder, std::span<const std::pair<std::string, std::string>> names) {
    for (const auto& [name, stem] : names) {
        const std::string file = folder.write(fmt::format("odd/{}.json", name), good_file());
        const std::string report = folder.at(fmt::format("{}-report.json", name));
        const ProgramResult result = dmlconform({"run", file, "--engine", "cpu", "-v", "--json", report});
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_TRUE(prints(result, fmt::format("pass      {}/good on cpu\n", stem)));
        EXPECT_EQ(json::parse(content_of(report)).at("summary").at("pass"), 1);
    }
    const ProgramResult all = dmlconform({"run", folder.at("odd"), "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(all, 0));
    EXPECT_TRUE(prints(all, fmt::format("{} cases on 1 engine", names.size())));
}

TEST_F(Run, ThePathsOfFilesMayBeAnything) {
    const std::pair<std::string, std::string> names[] = {
        {"with space", "with space"}, {"it's", "it's"},   {"ü", "ü"},        {"日本 😀", "日本 😀"},
        {"$(ls)", "$(ls)"},           {"-dash", "-dash"}, {"a;b&c", "a;b&c"}};
    run_files_called(folder_, names);
    EXPECT_TRUE(
        ends_with_code(dmlconform({"run", "--engine", "cpu", "--", "-dash.json"}, {.folder = folder_.at("odd")}), 0));
}

TEST_F(Run, ThePathsOfFilesMayBeAnyBytes) {
    // Characters that a terminal could take for a command are escaped.
    const std::pair<std::string, std::string> names[] = {{"caf\xE9", "caf\\xe9"}, {"new\nline", "new\\nline"}};
    run_files_called(folder_, names);
}

TEST_F(Run, DataFiles) {
    const auto with_data = [&](std::string_view path) {
        std::string text = good_file();
        text.replace(text.find("[1, 2, 3, 4]"), 12, fmt::format(R"({{ "file": "{}" }})", path));
        return folder_.write("sub/data.json", text);
    };
    const std::string floats("\0\0\x80?\0\0\0@\0\0@@\0\0\x80@", 16);
    folder_.write("sub/x.bin", floats);
    folder_.write("outside.bin", floats);
    EXPECT_TRUE(ends_with_code(dmlconform({"run", with_data("x.bin"), "--engine", "cpu"}), 0));
    const std::string out = with_data("../outside.bin");
    const ProgramResult refused = dmlconform({"run", out, "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(refused, 2));
    EXPECT_TRUE(complains(refused, "\"../outside.bin\" leads out of the case file's folder"));
    EXPECT_TRUE(complains(refused, "--allow-external-data allows that"));
    EXPECT_TRUE(ends_with_code(dmlconform({"run", out, "--engine", "cpu", "--allow-external-data"}), 0));
}

TEST_F(Run, NoColoursInPipesNorWhereTheyAreRefused) {
    const std::vector<std::string> words{"run", bad_, "--engine", "cpu"};
    EXPECT_EQ(
        occurrences(dmlconform(words, {.environment = {{"TERM", "xterm"}, {"NO_COLOR", std::nullopt}}}).output, "\x1b"),
        0u);
    if (!has_terminals()) {
        GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    const auto on_terminal = [&](const std::vector<std::pair<std::string, std::optional<std::string>>>& environment,
                                 const std::vector<std::string>& arguments) {
        const ProgramResult result = dmlconform(arguments, {.environment = environment, .terminal_for_output = true});
        EXPECT_TRUE(ends_with_code(result, 1));
        EXPECT_TRUE(prints(result, "bad/bad"));
        EXPECT_EQ(occurrences(result.errors, "\x1b"), 0u) << "a progress line is for terminals";
        return occurrences(result.output, "\x1b") != 0;
    };
    EXPECT_TRUE(on_terminal({{"TERM", "xterm"}, {"NO_COLOR", std::nullopt}}, words));
    EXPECT_TRUE(on_terminal({{"TERM", "xterm"}, {"NO_COLOR", ""}}, words)) << "an empty variable refuses nothing";
    EXPECT_FALSE(on_terminal({{"TERM", "xterm"}, {"NO_COLOR", "1"}}, words));
    EXPECT_FALSE(on_terminal({{"TERM", "dumb"}, {"NO_COLOR", std::nullopt}}, words));
    auto refused = words;
    refused.emplace_back("--no-color");
    EXPECT_FALSE(on_terminal({{"TERM", "xterm"}, {"NO_COLOR", std::nullopt}}, refused));
}

TEST_F(Run, ProgressIsShownOnATerminalAndTakenAway) {
    if (!has_terminals()) {
        GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    const ProgramResult result = dmlconform(
        {"run", cases_folder() + "/quantized_linear_convolution", "--engine", "cpu"}, {.terminal_for_errors = true});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(complains(result, "\r\x1b[K["));
    EXPECT_TRUE(result.errors.ends_with("\r\x1b[K")) << result.all();
    EXPECT_EQ(occurrences(result.output, "\x1b"), 0u);
    const ProgramResult quiet =
        dmlconform({"run", cases_folder() + "/quantized_linear_convolution", "--engine", "cpu", "-q"},
                   {.terminal_for_errors = true});
    EXPECT_EQ(quiet.errors, "");
    // The progress line counts failures, shows the memory, and failures are printed above it.
    std::string many = slice_case("bad", wrong_values);
    for (int i = 0; i < 20000; ++i) {
        many += ",\n" + slice_case(std::to_string(i), right_values);
    }
    const std::string file = folder_.write("many.json", file_of({many}));
    const ProgramResult failing = dmlconform({"run", file, "--engine", "cpu"}, {.terminal_for_errors = true});
    EXPECT_TRUE(ends_with_code(failing, 1));
    EXPECT_TRUE(complains(failing, "% 1 failed "));
    EXPECT_TRUE(complains(failing, "B many/"));
}

// ---- interruption --------------------------------------------------------------------------------------------------

/// A sweep whose cases take milliseconds each, and many seconds together.
std::string long_file(int count) {
    std::string seeds = "0";
    for (int seed = 1; seed < count; ++seed) {
        seeds += fmt::format(",{}", seed);
    }
    return fmt::format(R"({{ "cases": [ {{ "name": "s", "operator": "SLICE1",
        "desc": {{ "InputTensor": {{ "DataType": "UINT32", "Sizes": [200000] }}, "OutputTensor": {{ "DataType": "UINT32", "Sizes": [1] }},
                   "InputWindowOffsets": [0], "InputWindowSizes": [200000], "InputWindowStrides": [1] }},
        "inputs": {{ "InputTensor": {{ "random": "integer", "min": 5, "max": 5, "seed": "${{seed}}" }} }}, "expected": {{ "OutputTensor": [5] }},
        "sweep": {{ "seed": [{}] }} }} ] }})",
                       seeds);
}

TEST_F(Run, InterruptedRunsReportWhatTheyHave) {
    const std::string file = folder_.write("long.json", long_file(3000));
    const std::string report = folder_.at("result.json");
    for (const auto& [signal, exit_code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
        const ProgramResult result = dmlconform(
            {"run", file, "--engine", "cpu", "--verbose", "--json", report},
            {.interrupt_when = [](const std::string& output) { return !output.empty(); }, .interrupt_signal = signal});
        EXPECT_TRUE(ends_with_code(result, exit_code));
        const json document = json::parse(content_of(report));
        const std::size_t count = document.at("results").size();
        EXPECT_GT(count, 0u);
        EXPECT_LT(count, 3000u);
        EXPECT_EQ(document.at("summary").at("pass"), count);
        EXPECT_EQ(document.at("exitCode"), exit_code);
        EXPECT_TRUE(complains(result, fmt::format("dmlconform: interrupted; {} of 3000 cases were run\n", count)));
        EXPECT_TRUE(prints(result, fmt::format("{} results in ", count)));
    }
}

// ---- which cases, in which order, how many at a time ---------------------------------------------------------------

/// The numbers of the cases, in the order of a verbose run's lines.
std::vector<std::string> order_of(const ProgramResult& result) {
    std::vector<std::string> ids;
    const std::string_view before = "pass      f/";
    for (std::size_t at = result.output.find(before); at != std::string::npos;
         at = result.output.find(before, at + 1)) {
        ids.push_back(
            result.output.substr(at + before.size(), result.output.find(' ', at + before.size()) - at - before.size()));
    }
    return ids;
}

TEST_F(Run, SeveralAtATimeReportAsOneAtATime) {
    const std::string path = folder_.write("long.json", long_file(60));
    const auto lines = [&](const std::vector<std::string>& jobs) {
        std::vector<std::string> words{"run", path, "--engine", "cpu", "--verbose"};
        words.insert(words.end(), jobs.begin(), jobs.end());
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 0));
        const std::size_t from = result.output.find("pass ");
        return result.output.substr(from, result.output.find("\n\n", from) - from);
    };
    const std::string one = lines({"-j", "1"});
    EXPECT_EQ(occurrences(one, "pass "), 60u);
    EXPECT_EQ(lines({"--jobs=3"}), one);
    EXPECT_EQ(lines({"--isolate=2"}), one);
    EXPECT_TRUE(prints(dmlconform({"run", path, "--engine", "cpu", "-j3"}), "60 cases on 1 engine, 3 at a time\n"));
}

TEST_F(Run, ShuffledAndRepeated) {
    const std::string file =
        folder_.write("f.json", file_of({slice_case("a", right_values), slice_case("b", right_values),
                                         slice_case("c", right_values), slice_case("d", right_values)}));
    const auto order = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"run", file, "--engine", "cpu", "-v"});
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 0));
        return order_of(result);
    };
    EXPECT_EQ(order({"--repeat=2"}), (std::vector<std::string>{"a", "b", "c", "d", "a", "b", "c", "d"}));
    const auto shuffled = order({"--shuffle=3"});
    EXPECT_EQ(order({"--shuffle=3"}), shuffled);
    EXPECT_EQ(std::set<std::string>(shuffled.begin(), shuffled.end()).size(), 4u);
    EXPECT_TRUE(prints(dmlconform({"run", file, "--engine", "cpu", "--shuffle"}), "  in the order of --shuffle="));
    const ProgramResult wrong = dmlconform({"run", file, "--shuffle=soon"});
    EXPECT_TRUE(ends_with_code(wrong, 2));
    EXPECT_TRUE(complains(wrong, "--shuffle=soon: a seed is a number"));
}

TEST_F(Run, FailFast) {
    const ProgramResult result =
        dmlconform({"run",
                    folder_.write("f.json", file_of({slice_case("a", right_values), slice_case("b", wrong_values),
                                                     slice_case("c", right_values)})),
                    "--engine", "cpu", "--fail-fast", "-v"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_EQ(order_of(result), std::vector<std::string>{"a"});
    EXPECT_TRUE(prints(result, "2 results in "));
}

TEST_F(Run, AFileOfAHundredThousandCases) {
    std::string names = R"({ "name": "0" })";
    for (int i = 1; i < 100'000; ++i) {
        names += fmt::format(",\n{{ \"name\": \"{}\" }}", i);
    }
    const std::string file = folder_.write("many.json", R"({ "defaults": { "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "INT8", "Sizes": [4] }, "OutputTensor": { "DataType": "INT8", "Sizes": [2] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [-2] },
        "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [4, 2] } }, "cases": [ )" +
                                                            names + "] }");
    const ProgramResult result = dmlconform({"run", file, "--engine", "cpu", "-q"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "100000 results in "));
    EXPECT_TRUE(prints(result, ": 100000 pass\n"));
}

TEST_F(Run, AGibibyteIsSkippedWhereAQuarterIsAllowed) {
    const std::string file = folder_.write("big.json", R"({ "cases": [ { "name": "slice", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "UINT8", "Sizes": [1073741824] }, "OutputTensor": { "DataType": "UINT8", "Sizes": [4] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": { "value": 3 } }, "expected": { "OutputTensor": [3, 3, 3, 3] } } ] })");
    const ProgramResult result = dmlconform({"run", file, "--engine", "cpu", "-v", "--max-memory", "256M"});
    EXPECT_TRUE(ends_with_code(result, 1)) << "nothing was verified";
    EXPECT_TRUE(prints(result, "skip      big/slice on cpu: needs about 2048 MiB of memory; 256 MiB are allowed\n"));
    EXPECT_TRUE(prints(result, "Nothing was verified"));
}

// ---- all cases -----------------------------------------------------------------------------------------------------

TEST(AllCases, PassOnTheReference) {
    const ProgramResult result = dmlconform({"run", cases_folder(), "--engine", "cpu"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_EQ(occurrences(result.output, "FAIL"), 0u);
    EXPECT_EQ(occurrences(result.output, "ERROR"), 0u);
    // Operators without a failure share one row.
    const std::size_t row = result.output.find(" operators ");
    ASSERT_NE(row, std::string::npos) << result.output;
    EXPECT_GT(std::stoi(result.output.substr(result.output.rfind('\n', row) + 1)), 100);
}

TEST(AllCases, PassOnAllUsableEngines) {
    if (usable_engines().size() == 1) {
        GTEST_SKIP() << "only the CPU engine is usable here: " << dmlconform({"adapters"}).output;
    }
    const TemporaryFolder folder;
    const std::string report = folder.at("result.json");
    std::vector<std::string> words{"run", cases_folder(), "--json", report};
    for (const std::string& engine : usable_engines()) {
        words.insert(words.end(), {"--engine", engine});
    }
    const ProgramResult result = dmlconform(words, {.timeout = std::chrono::seconds(860)});
    EXPECT_TRUE(ends_with_code(result, 0));
    const json document = json::parse(content_of(report));
    EXPECT_EQ(document.at("summary").at("fail"), 0);
    EXPECT_EQ(document.at("summary").at("error"), 0);
    EXPECT_EQ(document.at("unverified").at("powerless"), 0) << result.output;
    EXPECT_EQ(document.at("precision").at("less"), 0);
    EXPECT_GT(document.at("precision").at("fp32"), 2000);
    std::map<std::string, std::set<std::string>> computed;
    for (const std::string& engine : usable_engines()) {
        computed[engine] = operators_of(engine);
        EXPECT_GE(computed[engine].size(), 159u) << engine;
    }
    std::set<std::string> ids;
    for (const json& entry : document.at("results")) {
        const auto id = entry.at("id").get<std::string>();
        // Every engine runs graphs, and reports missing kernels for single nodes.
        const bool has_kernel = entry.at("operator") == "DML_OPERATOR_GRAPH" ||
                                computed.at(entry.at("engine")).contains(entry.at("operator"));
        EXPECT_EQ(entry.at("status") == "skip", !has_kernel || is_beyond_shaders(entry))
            << id << " on " << entry.at("engine");
        ids.insert(id);
    }
    EXPECT_GE(ids.size(), 3000u);
}

TEST(AllCases, LeaveNothingUncoveredWithoutAReason) {
    const ProgramResult result =
        dmlconform({"coverage", cases_folder(), "--reasons", cases_folder() + "/uncovered.txt"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, ", 0 not covered without a reason, 0 reasons not used\n"));
}

TEST(AllCases, AreLegalAsTheySay) {
    const ProgramResult result = dmlconform({"validate", cases_folder()});
    EXPECT_TRUE(ends_with_code(result, 0));
}

TEST(RunTimes, OfFurtherExecutions) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", good_file());
    const std::string report = folder.at("r.json");
    const ProgramResult plain = dmlconform({"run", file, "--engine", "cpu"});
    EXPECT_FALSE(prints(plain, "steady"));
    const ProgramResult timed = dmlconform({"run", file, "--engine", "cpu", "--times", "--json", report});
    EXPECT_TRUE(ends_with_code(timed, 0));
    EXPECT_TRUE(prints(timed, "  steady\n"));
    const auto document = nlohmann::json::parse(content_of(report));
    EXPECT_GT(document.at("results")[0].at("timing").at("steadyNanoseconds").get<std::uint64_t>(), 0u);
}

}  // namespace
}  // namespace dmlconform::tests::run_test
