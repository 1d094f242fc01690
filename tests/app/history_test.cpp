// Tests of `dmlconform history`, also when several CI jobs run it at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::history_test {
namespace {

using nlohmann::json;

/// Benchmark results in Google Benchmark's format, measured by seven processes.
std::string results(int minute, double microseconds, int benchmarks = 1) {
    json document{{"context",
                   {{"date", fmt::format("2026-11-21T13:{:02}:00+00:00", minute)},
                    {"dmlconform.machine", "M"},
                    {"dmlconform.cpu.adapter", "A"},
                    {"dmlconform.cpu.driver", ""}}},
                  {"benchmarks", json::array()}};
    for (int b = 0; b < benchmarks; ++b) {
        for (int i = 0; i < 7; ++i) {
            document["benchmarks"].push_back({{"name", fmt::format("cpu/case{}", b)},
                                              {"real_time", microseconds * (1 + 0.001 * i)},
                                              {"time_unit", "us"},
                                              {"process", i}});
        }
    }
    return document.dump();
}

ProgramResult history(const std::string& file, std::vector<std::string> words, const ProgramOptions& options = {}) {
    words.insert(words.begin(), "history");
    words.insert(words.end(), {"--history", file});
    return dmlconform(words, options);
}

std::size_t entries_in(const std::string& file) {
    const ProgramResult result = history(file, {"show", "--entries"});
    return result.exit_code == 0 ? occurrences(result.output, "\n") - 1 : 0;
}

TEST(History, ResultsOfBothKindsAndAChange) {
    const TemporaryFolder folder;
    const std::string file = folder.at("h.sqlite");
    const std::string cases = folder.write("a.json", good_file());
    const std::string run = folder.at("run.json");
    ASSERT_TRUE(ends_with_code(dmlconform({"run", cases, "--engine", "cpu", "--json", run}), 0));
    std::vector<std::string> words{"add", run};
    for (int i = 0; i < 6; ++i) {
        words.push_back(folder.write(fmt::format("{}.json", i), results(i, i < 4 ? 100 : 112)));
    }
    words.insert(words.end(), {"--commit", "c0ffee"});
    const ProgramResult added = history(file, words);
    EXPECT_TRUE(ends_with_code(added, 0));
    EXPECT_TRUE(prints(added, "0.json: added as entry 2 of commit c0ffee"));
    EXPECT_TRUE(prints(history(file, words), "run.json: already added, as entry 1 of commit c0ffee"));
    EXPECT_EQ(entries_in(file), 7u);

    const ProgramResult shown = history(file, {"show"});
    EXPECT_TRUE(ends_with_code(shown, 0));
    EXPECT_TRUE(prints(shown, "cpu/case0: 100 µs -> 112 µs (+12.0%) since 2026-11-21T13:04:00Z, commit c0ffee\n"));
    EXPECT_TRUE(prints(shown, "SLICE1"));
    EXPECT_FALSE(prints(history(file, {"show", "--filter", "SLICE*"}), "cpu/case0"));
    EXPECT_TRUE(ends_with_code(history(file, {"show", "--filter", "nothing"}), 2));
    for (const char* larger : {"13", "13%"}) {
        EXPECT_TRUE(prints(history(file, {"show", "--threshold", larger}), "No changes.")) << larger;
    }
    for (const char* smaller : {"11", "0.13"}) {
        EXPECT_TRUE(prints(history(file, {"show", "--threshold", smaller}), "(+12.0%)")) << smaller;
    }
    EXPECT_TRUE(ends_with_code(history(file, {"show", "--threshold", "1001"}), 2));

    const std::string exported = folder.at("gbench.json");
    EXPECT_TRUE(
        ends_with_code(history(file, {"export", "--format", "gbench", "--entry", "2", "--output", exported}), 0));
    const ProgramResult compared = dmlconform({"compare", folder.at("0.json"), exported});
    EXPECT_TRUE(ends_with_code(compared, 0));
    EXPECT_TRUE(prints(compared, "1 compared at 5%: 0 slower, 0 faster, 0 unreliable, 1 as before"));
    EXPECT_TRUE(prints(history(file, {"export", "--format", "bmf"}), "\"latency\""));
    EXPECT_TRUE(prints(history(file, {"export", "--format", "csv"}), ",cpu/case0,median_seconds,0.00"));
    const ProgramResult one = dmlconform({"history", "export", "--history", file, "--format", "csv", "--entry", "1"});
    EXPECT_TRUE(ends_with_code(one, 2));
    EXPECT_TRUE(complains(one, "--format csv writes all entries"));
    EXPECT_TRUE(ends_with_code(history(file, {"export", "--format", "gbench", "--entry", "1"}), 2)) << "of a run";
    EXPECT_TRUE(ends_with_code(history(file, {"export", "--format", "gbench", "--entry", "99"}), 2));
    EXPECT_TRUE(ends_with_code(history(file, {"export", "--format", "xml"}), 2));
    const std::string content = content_of(file);
    for (const char* format : {"bmf", "gbench", "csv"}) {
        const ProgramResult replacing = history(file, {"export", "--format", format, "--output", file});
        EXPECT_TRUE(ends_with_code(replacing, 2)) << format;
        EXPECT_TRUE(complains(replacing, "which this command needs"));
    }
    EXPECT_EQ(content_of(file), content);
}

TEST(History, TheGateThePageAndTheTableAgree) {
    struct Row {
        const char* what;
        std::vector<double> microseconds;
        int exit_code;
        const char* text;
    };
    const Row rows[] = {
        {"level", {100, 101, 100, 99, 100}, 0, "0 of 1 benchmarks slower"},
        {"slower since c3", {100, 101, 100, 114, 114}, 1, "1 of 1 benchmarks slower"},
        {"only the newest", {100, 101, 100, 99, 114}, 4, "0 of 1 benchmarks slower"},
        {"faster", {100, 101, 100, 80, 80}, 0, "0 of 1 benchmarks slower"},
        {"slower, and the newest as before", {100, 101, 100, 114, 114, 114, 100}, 1, "1 of 1 benchmarks slower"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        const TemporaryFolder folder;
        const std::string file = folder.at("h.sqlite");
        std::string newest;
        for (std::size_t i = 0; i < row.microseconds.size(); ++i) {
            newest = folder.write(fmt::format("{}.json", i), results(static_cast<int>(i), row.microseconds[i]));
            ASSERT_TRUE(ends_with_code(history(file, {"add", newest, "--commit", fmt::format("c{}", i)}), 0));
        }
        const ProgramResult gate = history(file, {"gate"});
        EXPECT_TRUE(ends_with_code(gate, row.exit_code));
        EXPECT_TRUE(prints(gate, row.text));
        EXPECT_EQ(gate.output.find("commit c3") != std::string::npos, row.exit_code == 1);
        EXPECT_TRUE(prints(history(file, {"show"}), row.text));
        // Comparing with an equally slow base does not turn the report green.
        const ProgramResult page =
            dmlconform({"report", newest, "--base", newest, "--history", file, "--markdown", "-"});
        EXPECT_TRUE(prints(page, row.text));
        EXPECT_EQ(occurrences(page.output, "benchmarks slower"), 1u);
    }
    const TemporaryFolder folder;
    EXPECT_TRUE(ends_with_code(history(folder.at("none.sqlite"), {"gate"}), 2));
}

TEST(History, TheGateSaysWhatItCannotJudge) {
    const TemporaryFolder folder;
    const std::string file = folder.at("h.sqlite");
    int minute = 0;
    const auto add = [&](int benchmarks, double microseconds) {
        const std::string result = folder.write("next.json", results(minute++, microseconds, benchmarks));
        ASSERT_TRUE(ends_with_code(history(file, {"add", result, "--commit", "c"}), 0));
    };
    const auto gate_says = [&](int exit_code, const char* text) {
        const ProgramResult gate = history(file, {"gate"});
        EXPECT_TRUE(ends_with_code(gate, exit_code));
        EXPECT_TRUE(prints(gate, text));
        EXPECT_TRUE(prints(history(file, {"show"}), text));
    };
    for (int i = 0; i < 3; ++i) {
        add(2, 100);
    }
    gate_says(4, "it cannot be told of any of 2 benchmarks whether it is slower; 2 have fewer than 4 results\n");
    add(3, 100);
    gate_says(0, "0 of 3 benchmarks slower; 1 has fewer than 4 results\n");
    add(2, 130);
    add(2, 130);
    gate_says(1, "2 of 3 benchmarks slower; 1 has fewer than 4 results\n");
    for (int i = 0; i < 8; ++i) {
        add(1, 130);
    }
    gate_says(0, "0 of 1 benchmarks slower; 2 left out: not in the newest results\n");
    const ProgramResult gone = history(file, {"gate", "--filter", "*case1"});
    EXPECT_TRUE(ends_with_code(gone, 4));
    EXPECT_TRUE(prints(gone, "none of the benchmarks is in the newest results; 1 left out"));
}

TEST(History, AnotherDescriptorIsNotSlower) {
    const TemporaryFolder folder;
    const std::string file = folder.at("h.sqlite");
    for (int i = 0; i < 8; ++i) {
        json result = json::parse(results(i, i < 4 ? 100 : 150, 2));
        for (json& line : result["benchmarks"]) {
            line["label"] = line["name"] == "cpu/case0" && i >= 4 ? "GEMM b" : "GEMM a";
        }
        ASSERT_TRUE(ends_with_code(history(file, {"add", folder.write("r.json", result.dump()), "--commit", "c"}), 0));
    }
    const ProgramResult gate = history(file, {"gate"});
    EXPECT_TRUE(ends_with_code(gate, 1));
    EXPECT_TRUE(prints(gate, "1 of 2 benchmarks slower; 1 left out: not in the newest results"));
    EXPECT_FALSE(prints(gate, "case0")) << "the descriptor has changed, not its speed";
    EXPECT_TRUE(prints(history(file, {"show"}), "cpu/case0 (GEMM b) "));
}

TEST(History, NamesThatSqliteInterpretsAreFiles) {
    const TemporaryFolder folder;
    ProgramOptions options;
    options.folder = folder.path().string();
    const std::string result = folder.write("r.json", results(0, 100));
    for (const char* name : {":memory:", "file:x?mode=memory", "file:x.sqlite"}) {
        EXPECT_TRUE(ends_with_code(history(name, {"add", result, "--commit", "c"}, options), 0));
        EXPECT_TRUE(prints(history(name, {"show", "--entries"}, options), "r.json")) << name;
        EXPECT_FALSE(content_of(folder.at(name)).empty()) << name;
    }
}

TEST(History, BadResultsLeaveItUntouched) {
    const TemporaryFolder folder;
    const std::string good = folder.write("good.json", results(0, 100));
    const std::string file = folder.at("h.sqlite");
    ASSERT_TRUE(ends_with_code(history(file, {"add", good, "--commit", "c"}), 0));
    const std::string before = content_of(file);
    const std::string next = folder.write("next.json", results(1, 100));
    struct Row {
        std::string text;
        const char* message;
    };
    const std::string run_start =
        R"({"format": "dmlconform-result", "formatVersion": 1, "started": "now", "engines": [], )";
    const Row rows[] = {
        {results(2, 100).substr(0, 200), "this is not JSON, or not all of it"},
        {R"({"a": 1})", "no results of Google Benchmark"},
        {"\x89PNG\r\n", "this is not JSON"},
        {results(2, -100), "/benchmarks/0/real_time: -100.0 is not a time"},
        {results(2, 0), "/benchmarks/0/real_time: 0.0 is not a time"},
        {R"({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "parsec"}]})", "/benchmarks/0/time_unit"},
        {R"({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "us"},
                            {"name": "a", "real_time": 1, "time_unit": "ms"}]})",
         "/benchmarks/1/time_unit: \"ms\", but what came before of a is in \"us\""},
        {run_start + R"("results": [{"id": "a"}]})", "/results/0/operator: it must be a text, and is missing"},
        {run_start + R"("results": [)", "this is not JSON, or not all of it"},
        {R"({"format": "dmlconform-result", "formatVersion": 9, "results": []})", "/formatVersion"},
    };
    for (const Row& row : rows) {
        const std::string bad = folder.write("bad.json", row.text);
        const ProgramResult result = history(file, {"add", next, bad, "--commit", "c"});
        EXPECT_TRUE(ends_with_code(result, 2)) << row.text;
        EXPECT_TRUE(complains(result, "bad.json: "));
        EXPECT_TRUE(complains(result, row.message));
        EXPECT_EQ(content_of(file), before) << row.text;
    }
    EXPECT_TRUE(ends_with_code(history(file, {"add", folder.at("none.json")}), 2));
    EXPECT_TRUE(ends_with_code(history(file, {"add", folder.at("")}), 2));
    EXPECT_TRUE(ends_with_code(history(file, {"add", next, "--commit", "two words"}), 2));
    EXPECT_TRUE(ends_with_code(history(good, {"add", next, "--commit", "c"}), 2)) << "a history that is none";
    EXPECT_EQ(content_of(file), before);
    EXPECT_TRUE(ends_with_code(history(folder.at("none.sqlite"), {"show"}), 2));
    EXPECT_TRUE(ends_with_code(dmlconform({"history"}), 2));
}

/// A file size limit simulates the full disk. The error is not reported as a usage error.
TEST(History, AFullDiskIsNoMistakeOfTheUser) {
    const TemporaryFolder folder;
    const std::string file = folder.at("h.sqlite");
    const auto add = [&](const char* limit, int number) {
        return run_program({"/bin/sh", "-c", std::string("ulimit -f ") + limit + R"(; exec "$@")", "sh",
                            dmlconform_path(), "history", "add", folder.write("next.json", results(number, 100, 500)),
                            "--commit", "c", "--history", file});
    };
    EXPECT_TRUE(ends_with_code(add("0", 1), 3)) << "not even the tables have room";
    EXPECT_TRUE(ends_with_code(add("unlimited", 1), 0));
    const std::string before = content_of(file);
    const ProgramResult full = add(std::to_string(before.size() / 512 + 8).c_str(), 2);
    EXPECT_TRUE(ends_with_code(full, 3));
    EXPECT_FALSE(prints(full, "added"));
    EXPECT_EQ(entries_in(file), 1u);
    EXPECT_TRUE(ends_with_code(add("unlimited", 2), 0));
    EXPECT_EQ(entries_in(file), 2u);
}

TEST(History, WritersAtOnceLoseNothing) {
    const TemporaryFolder folder;
    const std::string file = folder.at("h.sqlite");
    std::vector<std::future<ProgramResult>> writers;
    for (int i = 0; i < 12; ++i) {
        const std::string result = folder.write(fmt::format("{}.json", i), results(i, 100, 50));
        writers.push_back(std::async(std::launch::async, [=] {
            return history(file, {"add", result, "--commit", "c"});
        }));
    }
    for (auto& writer : writers) {
        EXPECT_TRUE(ends_with_code(writer.get(), 0));
    }
    EXPECT_EQ(entries_in(file), 12u);
}

TEST(History, AKilledWriterLosesNothing) {
    const TemporaryFolder folder;
    const std::string file = folder.at("h.sqlite");
    ASSERT_TRUE(ends_with_code(history(file, {"add", folder.write("first.json", results(59, 1)), "--commit", "c"}), 0));
    std::size_t entries = 1;
    std::size_t killed = 0;
    constexpr int writers = 10;
    for (int i = 0; i < writers; ++i) {
        // Kills it at a different moment each time: while reading, while writing, or after the end.
        ProgramOptions options;
        options.timeout = std::chrono::milliseconds(4 + 8 * i);
        const std::string result = folder.write(fmt::format("{}.json", i), results(i, 100, 1000));
        killed += history(file, {"add", result, "--commit", "c"}, options).timed_out ? 1 : 0;
        const std::size_t now = entries_in(file);
        EXPECT_TRUE(now == entries || now == entries + 1) << now << " after " << entries;
        entries = now;
    }
    EXPECT_GT(killed, 0u);
    for (int i = 0; i < writers; ++i) {
        const ProgramResult again = history(file, {"add", folder.at(fmt::format("{}.json", i)), "--commit", "c"});
        EXPECT_TRUE(ends_with_code(again, 0));
    }
    EXPECT_EQ(entries_in(file), writers + 1u) << "and none of them is there in part: that would be another result";
    const ProgramResult lines = history(file, {"export", "--format", "csv"});
    EXPECT_EQ(occurrences(lines.output, ",repetitions,7\r\n"), writers * 1000u + 1);
}

}  // namespace
}  // namespace dmlconform::tests::history_test
