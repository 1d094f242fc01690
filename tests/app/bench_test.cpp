// `dmlconform bench` and `dmlconform compare`, as a user runs them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/hardware_threads.h"
#include "engine/core/processor_clock.h"
#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::bench_test {
namespace {

using nlohmann::json;

std::string tagged(std::string_view name, std::string_view expected) {
    return slice_case(name, fmt::format(R"({}, "tags": ["bench"])", expected));
}

ProgramResult bench(const std::string& file, std::vector<std::string> more) {
    std::vector<std::string> words{"bench", file, "--engine", "cpu", "--no-roofline", "--benchmark_min_time=0.001"};
    words.insert(words.end(), more.begin(), more.end());
    return dmlconform(words);
}

/// What the names of small benchmarks on the CPU engine end with.
std::string clock_of_small_ones() {
    return core::has_exact_processor_clock() ? "process_time/manual_time" : "real_time";
}

TEST(Bench, TheTableLeavesTheStandardOutputToTheResult) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::vector<std::vector<std::string>> ways{{}, {"--benchmark_format=console"}, {"--processes=2"}};
    for (const std::vector<std::string>& way : ways) {
        std::vector<std::string> words{"--benchmark_repetitions=2", "--benchmark_out=-"};
        words.insert(words.end(), way.begin(), way.end());
        const ProgramResult result = bench(file, words);
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_TRUE(json::accept(result.output)) << result.all();
        EXPECT_TRUE(complains(result, "cpu/a/good/"));
    }
}

TEST(Bench, TimesWhatIsTaggedAndRight) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({tagged("good", right_values), slice_case("untagged", right_values)}));
    const std::string out = folder.at("out.json");
    const ProgramResult result = bench(file, {"--benchmark_repetitions=4", "--benchmark_out=" + out});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "benchmark "));
    EXPECT_TRUE(prints(result, "cpu/a/good/" + clock_of_small_ones() + " "));
    EXPECT_FALSE(prints(result, "_time_median")) << "one line for each benchmark";
    EXPECT_FALSE(prints(result, "untagged"));
    const json document = json::parse(content_of(out));
    std::size_t repetitions = 0;
    for (const json& entry : document.at("benchmarks")) {
        if (entry.at("run_type") == "iteration") {
            ++repetitions;
            EXPECT_GT(entry.at("real_time").get<double>(), 0);
            EXPECT_GT(entry.at("bytes_per_second").get<double>(), 0);
            EXPECT_FALSE(entry.contains("operations_per_second")) << "a slice computes nothing";
            EXPECT_FALSE(entry.contains("unverified"));
        }
    }
    EXPECT_EQ(repetitions, 4u);
    EXPECT_TRUE(document.at("context").contains("dmlconform.machine"));
    EXPECT_EQ(document.at("context").at("dmlconform.cpu.clock"),
              core::has_exact_processor_clock() ? "the processor's clock" : "the wall clock");
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", out, out}), 4)) << "one process tells nothing";
}

/// Overwrites all measured times in a file by one, so that what `compare` says of it does not depend on the machine.
void give_all_the_same_time(const std::string& path) {
    json document = json::parse(content_of(path));
    for (json& entry : document.at("benchmarks")) {
        entry["real_time"] = entry["cpu_time"] = 2.5;
        entry.erase("unsettled");
    }
    std::ofstream(path) << document.dump();
}

/// The process of each repetition in a file; -1 where there is none.
std::vector<int> processes_in(const std::string& path) {
    std::vector<int> processes;
    const json document = json::parse(content_of(path));
    for (const json& entry : document.at("benchmarks")) {
        if (entry.at("run_type") == "iteration") {
            processes.push_back(entry.value("process", -1));
        }
    }
    return processes;
}

TEST(BenchProcesses, TimeTheSameOneAfterAnother) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({tagged("good", right_values), tagged("other", right_values)}));
    const std::string out = folder.at("out.json");
    const ProgramResult result =
        bench(file, {"--processes", "8", "--benchmark_repetitions=2", "--benchmark_out=" + out});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_EQ(occurrences(result.output, "cpu/a/good/" + clock_of_small_ones() + " "), 1u)
        << "one line for each benchmark";
    EXPECT_EQ(occurrences(result.errors, "timed by"), 1u) << "each process would say the same";
    const std::vector<int> once{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    std::vector<int> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_EQ(processes_in(out), twice);
    give_all_the_same_time(out);
    const ProgramResult compared = dmlconform({"compare", out, out});
    EXPECT_TRUE(ends_with_code(compared, 0)) << "nothing is slower than itself";
    EXPECT_TRUE(prints(compared, "2 compared at 5%: 0 slower, 0 faster, 0 unreliable, 2 as before"));
}

TEST(BenchProcesses, FailAsOneProcessDoes) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({tagged("good", right_values), tagged("bad", wrong_values)}));
    const std::string out = folder.at("out.json");
    const ProgramResult wrong = bench(file, {"--processes=2", "--benchmark_out=" + out});
    EXPECT_EQ(wrong.exit_code, bench(file, {}).exit_code);
    EXPECT_TRUE(ends_with_code(bench(folder.at("none.json"), {"--processes=2"}), 2));
    const ProgramResult format = bench(file, {"--processes=2", "--benchmark_format=csv"});
    EXPECT_TRUE(ends_with_code(format, 2));
    EXPECT_TRUE(complains(format, "--processes prints a table of its own and writes JSON"));
    for (const char* number : {"0", "-1", "many", "10001", "1.5"}) {
        const ProgramResult result = bench(file, {std::string("--processes=") + number});
        EXPECT_TRUE(ends_with_code(result, 2)) << number;
        EXPECT_TRUE(complains(result, "a number from 1 to 10000 is needed")) << number;
    }
}

/// A worker that executes in another way.
std::string worker_that(const TemporaryFolder& folder, const char* executes) {
    return changed_worker(folder, fmt::format(R"(right = worker.answer
def answer(request, programs):
    if request["request"] == "execute":
        {}
    return right(request, programs)
worker.answer = answer)",
                                              executes));
}

TEST(BenchProcesses, SayThatNothingWasTimed) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::string out = folder.at("out.json");
    // Finding out whether it is right takes fewer executions.
    const std::string worker = worker_that(folder, R"(mine = programs[request["executable"]]
        mine["count"] = mine.get("count", 0) + 1
        if mine["count"] > 6: raise ValueError(7))");
    const ProgramResult failed = dmlconform({"bench", file, "--engine", worker, "--no-roofline", "--no-verify",
                                             "--processes=2", "--benchmark_min_time=0.001", "--benchmark_out=" + out});
    EXPECT_TRUE(ends_with_code(failed, 1));
    EXPECT_TRUE(prints(failed, "failed in 2 of 2 processes: ValueError(7)"));
    EXPECT_TRUE(complains(failed, "nothing was timed"));
    EXPECT_FALSE(std::filesystem::exists(out)) << "no time could be read from it";
    const ProgramResult none = bench(file, {"--processes=2", "--benchmark_filter=none"});
    EXPECT_TRUE(ends_with_code(none, 1));
    EXPECT_EQ(occurrences(none.errors, "nothing was timed"), 1u) << none.errors;
}

TEST(BenchProcesses, NeedTheRepetitions) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::vector<std::string> words{
        "bench", file, "--engine", "cpu", "--no-roofline", "--processes=2", "--benchmark_min_time=0.001"};
    std::vector<std::string> only_aggregates = words;
    only_aggregates.emplace_back("--benchmark_report_aggregates_only=true");
    const ProgramResult refused = dmlconform(only_aggregates);
    EXPECT_TRUE(ends_with_code(refused, 2));
    EXPECT_TRUE(complains(refused, "leave out --benchmark_report_aggregates_only"));
    for (const auto& [value, code] : {std::pair("true", 2), std::pair("YES", 0)}) {
        ProgramOptions options;
        options.environment = {{"BENCHMARK_REPORT_AGGREGATES_ONLY", value}};
        const ProgramResult result = dmlconform(words, options);
        EXPECT_TRUE(ends_with_code(result, code)) << value;
        EXPECT_EQ(result.output.find("cpu/a/good/") != std::string::npos, code == 0) << result.all();
    }
}

TEST(BenchProcesses, AnInterruptKeepsWhatWasMeasured) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::string out = folder.at("out.json");
    // Long enough for some processes, however busy the machine is.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    const ProgramResult result = dmlconform(
        {"bench", file, "--engine", "cpu", "--no-roofline", "--processes=1000", "--benchmark_min_time=0.05",
         "--benchmark_out=" + out},
        {.interrupt_when = [end](const std::string& /*output*/) { return std::chrono::steady_clock::now() > end; },
         .interrupt_signal = SIGTERM});
    EXPECT_TRUE(ends_with_code(result, 143));
    EXPECT_TRUE(complains(result, "of 1000 processes timed something"));
    EXPECT_FALSE(processes_in(out).empty());
}

TEST(Bench, TimesEverythingWhereNothingIsTagged) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({slice_case("one", right_values), slice_case("two", right_values)}));
    const ProgramResult result = bench(file, {"--benchmark_repetitions=1"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "cpu/a/one/" + clock_of_small_ones() + " "));
    EXPECT_TRUE(prints(result, "cpu/a/two/" + clock_of_small_ones() + " "));
    // An explicit --tag selects only cases with that tag, and these have none.
    EXPECT_TRUE(ends_with_code(bench(file, {"--tag", "bench"}), 2));
    EXPECT_TRUE(ends_with_code(bench(file, {"--exclude", "*"}), 2));
    EXPECT_TRUE(ends_with_code(dmlconform({"bench", file, "--dim", "N=1"}), 2)) << "there is no model";
}

/// The example worker reports no times; this program's own worker does.
TEST(Bench, SaysWhoseClockItIs) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::string cases[][2] = {
        {"cpu", core::has_exact_processor_clock() ? ": timed by the processor's clock" : ": timed by the wall clock"},
        {"exec:" + dmlconform_path() + " worker --engine cpu", ": timed by the worker's own clock"},
        {fmt::format("exec:python3 -B '{}'", EXAMPLE_WORKER), ": timed by the wall clock"}};
    for (const auto& [engine, clock] : cases) {
        const ProgramResult result = dmlconform({"bench", file, "--engine", engine, "--no-roofline",
                                                 "--benchmark_min_time=0.001", "--benchmark_repetitions=1"});
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_TRUE(complains(result, clock)) << engine;
    }
    EXPECT_TRUE(complains(bench(file, {"--cpu-time", "--benchmark_repetitions=1"}), "timed by the processor's clock"));
    // Outputs from files took no time, which no number of repetitions adds up to.
    EXPECT_TRUE(ends_with_code(dmlconform({"bench", file, "--engine", "outputs:" + folder.path().string()}), 2));
}

/// Google Benchmark ignores what it cannot parse, and never ends if a time is NaN.
TEST(Bench, OptionsOfGoogleBenchmarkAreRead) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::pair<const char*, std::vector<const char*>> wrong[] = {
        {"min_time", {"nan", "inf", "-1", "1e400", "x", "", "5x", "1000001"}},
        {"min_warmup_time", {"nan", "-1"}},
        {"repetitions", {"-1", "0", "x", "nan", "1.5", "99999999999", ""}},
        {"format", {"x", ""}},
        {"out_format", {"xml"}},
        {"color", {"red"}},
        {"filter", {"[", "-("}},
        {"time_unit", {"h"}},
        {"list_tests", {"x"}},
        {"context", {"x", "a=b,c", "a=b=c"}},
    };
    for (const auto& [name, values] : wrong) {
        const std::string option = fmt::format("--benchmark_{}", name);
        for (const char* value : values) {
            const ProgramResult result = bench(file, {fmt::format("{}={}", option, value)});
            EXPECT_TRUE(ends_with_code(result, 2)) << option << "=" << value;
            EXPECT_TRUE(complains(result, option + ": \"" + value + "\" must be ")) << value;
            EXPECT_EQ(result.output, "");
        }
    }
    // Parsing this many nested groups would overflow the stack.
    const ProgramResult deep = bench(file, {"--benchmark_filter=" + std::string(100'000, '(')});
    EXPECT_TRUE(ends_with_code(deep, 2));
    EXPECT_TRUE(complains(deep, "must be a regular expression of at most 1000 bytes"));
    EXPECT_LT(deep.errors.size(), 1000u);
    const ProgramResult unknown = bench(file, {"--benchmark_repetition=2"});
    EXPECT_TRUE(ends_with_code(unknown, 2));
    EXPECT_TRUE(complains(unknown, "bench has no option --benchmark_repetition\n"));
    EXPECT_TRUE(complains(unknown, "did you mean `--benchmark_repetitions`?"));
    EXPECT_TRUE(complains(bench(file, {"--benchmark_out"}), "--benchmark_out needs a value"));
    const ProgramResult right =
        bench(file, {"--benchmark_min_time=0.001s", "--benchmark_repetitions=2", "--benchmark_filter=-none",
                     "--benchmark_counters_tabular", "--benchmark_context=name=value,other="});
    EXPECT_TRUE(ends_with_code(right, 0));
    EXPECT_EQ(right.errors.find("expected"), std::string::npos) << right.all();
}

/// A file with `count` passing cases.
std::string several(const TemporaryFolder& folder, int count) {
    std::vector<std::string> cases;
    for (int i = 0; i < count; ++i) {
        cases.push_back(tagged(fmt::format("good{}", i), right_values));
    }
    return folder.write("a.json", fmt::format("{{\"cases\": [{}]}}", fmt::join(cases, ",\n")));
}

/// The number of repetitions of each benchmark in a file.
std::map<std::string, std::size_t> repetitions_in(const std::string& path) {
    std::map<std::string, std::size_t> counts;
    const json document = json::parse(content_of(path));
    for (const json& entry : document.at("benchmarks")) {
        if (entry.at("run_type") == "iteration") {
            EXPECT_FALSE(entry.contains("error_occurred")) << entry;
            ++counts[entry.at("run_name").get<std::string>()];
        }
    }
    return counts;
}

TEST(Bench, AnInterruptionLeavesWhatWasMeasured) {
    for (const auto& [signal, exit_code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
        for (const char* table : {"--benchmark_color=no", "--benchmark_format=console"}) {
            const TemporaryFolder folder;
            const std::string out = folder.at("out.json");
            ProgramOptions options;
            options.interrupt_signal = signal;
            options.interrupt_when = [](const std::string& output) {
                return output.find("cpu/a/good0/") != std::string::npos;
            };
            const ProgramResult result =
                dmlconform({"bench", several(folder, 40), "--engine", "cpu", "--no-roofline", table,
                            "--benchmark_min_time=0.001", "--benchmark_repetitions=200", "--benchmark_out=" + out},
                           options);
            EXPECT_TRUE(ends_with_code(result, exit_code));
            EXPECT_TRUE(complains(result, "dmlconform: interrupted; "));
            EXPECT_TRUE(complains(result, " of 40 benchmarks were timed\n"));
            ASSERT_TRUE(std::filesystem::exists(out)) << result.all();
            const auto counts = repetitions_in(out);
            EXPECT_EQ(counts.at("cpu/a/good0/" + clock_of_small_ones()), 200u) << "the first one was done";
            EXPECT_LT(counts.size(), 40u);
            EXPECT_TRUE(prints(dmlconform({"compare", out, out}), "cpu/a/good0/" + clock_of_small_ones()));
        }
    }
}

TEST(Bench, ABudgetEndsRepetitions) {
    const TemporaryFolder folder;
    const std::string out = folder.at("out.json");
    // A repetition takes at least 100 us, so all of them would take 3 s.
    const ProgramResult result =
        bench(several(folder, 3), {"--time-budget=1.5s", "--benchmark_repetitions=10000", "--benchmark_out=" + out});
    EXPECT_TRUE(ends_with_code(result, 0));
    std::size_t repetitions = 0;
    for (const auto& [name, count] : repetitions_in(out)) {
        repetitions += count;
    }
    EXPECT_GT(repetitions, 0u);
    EXPECT_LT(repetitions, 25'000u) << "the rest was left out";
    for (const char* wrong : {"0", "-1", "nan", "1e9", "s", "1m"}) {
        const ProgramResult refused = bench(several(folder, 1), {std::string("--time-budget=") + wrong});
        EXPECT_TRUE(ends_with_code(refused, 2)) << wrong;
        EXPECT_TRUE(complains(refused, "seconds are needed, for example 60s")) << wrong;
    }
}

/// Clocks with coarse steps say that short executions took no time.
TEST(Bench, WhatTakesNoTimeFails) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::string worker = worker_that(folder, "return {\"nanoseconds\": 0}");
    for (const char* how : {"--benchmark_repetitions=2", "--benchmark_enable_random_interleaving"}) {
        ProgramOptions options;
        options.timeout = std::chrono::seconds(60);
        const ProgramResult result = dmlconform({"bench", file, "--engine", worker, "--no-roofline", "--no-verify",
                                                 "--time-budget=0.5s", "--benchmark_min_time=0", how},
                                                options);
        EXPECT_TRUE(ends_with_code(result, 1)) << how;
        EXPECT_TRUE(prints(result, "failed: the executions take no time by the worker's own clock: it counted 0 ns"));
    }
}

/// Both by the wall clock and by the processor's, which is read once for many executions.
TEST(Bench, RepetitionsTakeTheUsualTime) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::string out = folder.at("out.json");
    for (const char* clock : {"--wall-time", "--cpu-time"}) {
        ASSERT_TRUE(ends_with_code(dmlconform({"bench", file, "--engine", "cpu", "--no-roofline", clock,
                                               "--benchmark_repetitions=1", "--benchmark_out=" + out}),
                                   0));
        const json entry = json::parse(content_of(out)).at("benchmarks").at(0);
        // 0.2 s, or less if other processes have the processor for most of the time.
        const double seconds = entry.at("iterations").get<double>() * entry.at("real_time").get<double>() / 1e6;
        EXPECT_GE(seconds, 0.02) << clock;
    }
}

TEST(Bench, ABudgetLeavesEachBenchmarkOneRepetition) {
    const TemporaryFolder folder;
    const std::string out = folder.at("out.json");
    // The time is over before the number of executions that a repetition needs is known.
    const std::vector<std::string> words{"bench",       several(folder, 3),      "--engine",
                                         "cpu",         "--no-roofline",         "--time-budget=0.001",
                                         "--wall-time", "--benchmark_out=" + out};
    for (const bool by_wall_clock : {false, true}) {
        std::vector<std::string> these = words;
        if (!by_wall_clock) {
            std::erase(these, "--wall-time");
        }
        EXPECT_TRUE(ends_with_code(dmlconform(these), 0));
        EXPECT_EQ(repetitions_in(out).size(), 3u);
    }
}

TEST(Bench, RepeatsUntilSettledUnlessANumberIsGiven) {
    const TemporaryFolder folder;
    const std::string out = folder.at("out.json");
    const std::string file = several(folder, 2);
    ASSERT_TRUE(ends_with_code(bench(file, {"--benchmark_out=" + out}), 0));
    for (const auto& [name, count] : repetitions_in(out)) {
        EXPECT_GE(count, 5u) << name;
        EXPECT_LE(count, 9u) << name;
    }
    ASSERT_TRUE(ends_with_code(bench(file, {"--benchmark_out=" + out, "--benchmark_repetitions=7"}), 0));
    for (const auto& [name, count] : repetitions_in(out)) {
        EXPECT_EQ(count, 7u) << name;
    }
    // With Google Benchmark's own option for interleaving all benchmarks.
    ASSERT_TRUE(ends_with_code(
        bench(file, {"--benchmark_out=" + out, "--benchmark_repetitions=3", "--benchmark_enable_random_interleaving"}),
        0));
    EXPECT_EQ(repetitions_in(out).size(), 2u);
    const ProgramResult names = bench(file, {"--benchmark_list_tests"});
    EXPECT_TRUE(ends_with_code(names, 0));
    EXPECT_EQ(names.errors.find("nothing"), std::string::npos) << names.errors;
    EXPECT_TRUE(prints(names, fmt::format("cpu/a/good0/{0}\ncpu/a/good1/{0}\n", clock_of_small_ones())));
    const ProgramResult one = bench(file, {"--benchmark_filter=good1/[a-z_/]*time$", "--benchmark_repetitions=1"});
    EXPECT_TRUE(prints(one, "cpu/a/good1/"));
    EXPECT_FALSE(prints(one, "cpu/a/good0/"));
}

TEST(Bench, FitsATerminalAndShowsProgress) {
    if (!has_terminals()) {
        GTEST_SKIP() << "no pseudo-terminals here";
    }
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "a.json", file_of({tagged("a/name/that/is/far/too/long/to/fit/beside/the/numbers/in/one/line", right_values)}));
    const std::vector<std::string> words{
        "bench", file, "--engine", "cpu", "--no-roofline", "--benchmark_min_time=0.001", "--benchmark_repetitions=3"};
    ProgramOptions output;
    output.terminal_for_output = true;
    EXPECT_TRUE(prints(dmlconform(words, output), "/in/one/line/" + clock_of_small_ones() + "\r\n"))
        << "the name has a line of its own";
    ProgramOptions errors;
    errors.terminal_for_errors = true;
    EXPECT_TRUE(complains(dmlconform(words, errors), "[0/1] 0% "));
}

TEST(Bench, GoogleBenchmarksTable) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const ProgramResult result = bench(file, {"--benchmark_repetitions=2", "--benchmark_format=console"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "cpu/a/good/" + clock_of_small_ones() + "_median"));
}

/// The clock in the context of a file.
std::string clock_in(const std::string& path) {
    return json::parse(content_of(path)).at("context").at("dmlconform.cpu.clock");
}

TEST(BenchClock, IsTheProcessorsForOneThread) {
    if (!core::has_exact_processor_clock()) {
        GTEST_SKIP() << "no exact processor clock here";
    }
    const TemporaryFolder folder;
    const std::string out = folder.at("out.json");
    // A convolution of 10^8 steps is worth several threads, and one of 10^3 is not.
    const std::string large = core::hardware_threads() > 1 ? "the wall clock" : "the processor's clock";
    const std::pair<const char*, std::string> cases[] = {{"1,1,8,8", "the processor's clock"}, {"1,64,56,56", large}};
    for (const auto& [sizes, clock] : cases) {
        const ProgramResult result =
            bench("CONVOLUTION", {"--sizes", sizes, "--benchmark_repetitions=1", "--benchmark_out=" + out});
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_EQ(clock_in(out), clock) << sizes;
        const bool by_processor = clock == "the processor's clock";
        EXPECT_TRUE(prints(result, by_processor ? "/process_time/manual_time" : "/real_time")) << sizes;
    }
}

TEST(BenchClock, IsChosenAndNeverMixed) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const std::string wall = folder.at("wall.json");
    const std::string processor = folder.at("processor.json");
    const ProgramResult by_wall = bench(file, {"--wall-time", "--processes=7", "--benchmark_out=" + wall});
    EXPECT_TRUE(prints(by_wall, "cpu/a/good/real_time"));
    const ProgramResult by_processor = bench(file, {"--cpu-time", "--processes=7", "--benchmark_out=" + processor});
    EXPECT_TRUE(prints(by_processor, "cpu/a/good/process_time/manual_time"));
    EXPECT_TRUE(ends_with_code(bench(file, {"--cpu-time", "--wall-time"}), 2)) << "one or the other";
    const ProgramResult compared = dmlconform({"compare", wall, processor});
    EXPECT_TRUE(ends_with_code(compared, 2));
    EXPECT_TRUE(complains(compared, "cpu/a/good: timed by the wall clock, and by the processor's clock"));
    EXPECT_TRUE(complains(compared, "hint: `bench --wall-time` and `bench --cpu-time` choose the clock"));
    EXPECT_EQ(compared.errors.find("--force"), std::string::npos) << "which has nothing to compare";
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", wall, processor, "--force"}), 1));
}

TEST(Bench, WrongResultsAreNotTimedUnlessAskedFor) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({tagged("good", right_values), tagged("bad", wrong_values)}));
    const ProgramResult result = bench(file, {"--benchmark_repetitions=1"});
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(complains(result, "not timed: cpu/a/bad: the output differs beyond tolerance"));
    EXPECT_TRUE(prints(result, "cpu/a/good/"));
    EXPECT_FALSE(prints(result, "cpu/a/bad/"));
    const ProgramResult unverified = bench(file, {"--benchmark_repetitions=1", "--no-verify"});
    EXPECT_TRUE(ends_with_code(unverified, 0));
    EXPECT_TRUE(prints(unverified, "cpu/a/bad/"));
    EXPECT_TRUE(prints(unverified, "  unverified\n"));
}

TEST(Bench, NamesFiltersThatMatchNothing) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const ProgramResult result = bench(file, {"--filter", "*good*", "--filter", "typo*", "--benchmark_repetitions=1"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(complains(result, "note: --filter typo* matches none of the cases"));
    EXPECT_EQ(result.errors.find("--filter *good*"), std::string::npos) << result.errors;
}

TEST(Bench, NothingToTime) {
    const TemporaryFolder folder;
    const std::string untagged = folder.write("a.json", good_file());
    const ProgramResult none = bench(untagged, {"--tag", "bench"});
    EXPECT_TRUE(ends_with_code(none, 2));
    EXPECT_TRUE(complains(none, "no case has the tag \"bench\""));
    EXPECT_TRUE(ends_with_code(bench(untagged, {"--filter", "*good*", "--benchmark_filter=no such thing"}), 1));
    const ProgramResult unknown = bench(untagged, {"--cald"});
    EXPECT_TRUE(ends_with_code(unknown, 2));
    EXPECT_TRUE(complains(unknown, "bench has no option --cald"));
}

/// Benchmark results with nine repetitions close to `microseconds`.
std::string results(double microseconds, const char* machine = "M") {
    json document{{"context", {{"dmlconform.machine", machine}}}, {"benchmarks", json::array()}};
    for (int i = 0; i < 9; ++i) {
        document["benchmarks"].push_back(
            {{"name", "cpu/a"}, {"real_time", microseconds * (1 + 0.001 * i)}, {"time_unit", "us"}, {"process", i}});
    }
    return document.dump();
}

TEST(Compare, ExitCodes) {
    const TemporaryFolder folder;
    const std::string base = folder.write("base.json", results(100));
    const std::string slower = folder.write("slower.json", results(110));
    const std::string elsewhere = folder.write("elsewhere.json", results(100, "N"));
    const std::string cut = folder.write("cut.json", results(100).substr(0, 90));

    const ProgramResult regression = dmlconform({"compare", base, slower});
    EXPECT_TRUE(ends_with_code(regression, 1));
    EXPECT_TRUE(prints(regression, "SLOWER"));
    EXPECT_TRUE(prints(regression, "1 compared at 5%: 1 slower, 0 faster, 0 unreliable, 0 as before"));
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", slower, base}), 0)) << "faster is not a regression";

    const ProgramResult several = dmlconform({"compare", "--base", base, base, "--new", slower, slower});
    EXPECT_TRUE(ends_with_code(several, 1));
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {}, {base}, {base, slower, base}, {base, "--new", slower}, {"--base", base}}) {
        std::vector<std::string> all{"compare"};
        all.insert(all.end(), words.begin(), words.end());
        EXPECT_TRUE(ends_with_code(dmlconform(all), 2));
    }

    const ProgramResult unpaired = dmlconform({"compare", "--paired", base, slower});
    EXPECT_TRUE(ends_with_code(unpaired, 2));
    EXPECT_TRUE(complains(unpaired, "--paired cannot compare 1 and 1 files"));
    EXPECT_TRUE(complains(unpaired, "at least 6"));
    std::vector<std::string> pairs{"compare", "--paired", "--base", base,   base,   base,   base,   base,
                                   base,      "--new",    slower,   slower, slower, slower, slower, slower};
    const ProgramResult few = dmlconform(pairs);
    EXPECT_TRUE(ends_with_code(few, 4));
    EXPECT_TRUE(prints(few, "there are 6 pairs, and 8 are needed for 1 benchmark"));
    pairs.emplace_back("--significance=0.05");
    const ProgramResult paired = dmlconform(pairs);
    EXPECT_TRUE(ends_with_code(paired, 1));
    EXPECT_TRUE(prints(paired, "1 slower"));
    EXPECT_TRUE(prints(paired, "0.0043")) << "2 of 924 orders, by two tests";

    const ProgramResult other = dmlconform({"compare", base, elsewhere});
    EXPECT_TRUE(ends_with_code(other, 2));
    EXPECT_TRUE(complains(other, "dmlconform.machine: M and N"));
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", base, elsewhere, "--force"}), 0));

    const ProgramResult truncated = dmlconform({"compare", base, cut});
    EXPECT_TRUE(ends_with_code(truncated, 2));
    EXPECT_TRUE(complains(truncated, "cut.json: this is not JSON, or not all of it"));
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", base, folder.at("none.json")}), 2));
}

TEST(Compare, SaysWhatItCannotTell) {
    const TemporaryFolder folder;
    // Each repetition by a process of its own, or all by one.
    const auto file = [&](const char* name, double microseconds, int repetitions, double scatter = 0.001,
                          bool one_process = false) {
        json document{{"benchmarks", json::array()}};
        for (int i = 0; i < repetitions; ++i) {
            document["benchmarks"].push_back({{"name", "cpu/a"},
                                              {"real_time", microseconds * (1 + scatter * i)},
                                              {"time_unit", "us"},
                                              {"process", one_process ? 0 : i}});
        }
        return folder.write(name, document.dump());
    };
    json drifting = json::parse(content_of(file("u10", 100, 10)));
    for (std::size_t i = 1; i < 10; ++i) {
        drifting["benchmarks"][i]["unsettled"] = 1;
    }
    const std::string unsettled = folder.write("u10", drifting.dump());
    const struct {
        const char* what;
        std::string base;
        std::string now;
        int exit_code;
        const char* message;
    } rows[] = {
        {"one repetition, three times slower", file("a1", 100, 1), file("b1", 300, 1), 4,
         "1 process measured the base, and 1 the new side. That takes 7 on each side for 1 benchmark"},
        {"nine repetitions of one process", file("c9", 100, 9, 0.001, true), file("d9", 300, 9, 0.001, true), 4,
         "1 process measured the base"},
        {"three processes, three times slower", file("a3", 100, 3), file("b3", 300, 3), 4,
         "hint: `dmlconform bench … --processes 7 --benchmark_out=FILE` for both sides"},
        {"nine of ten that did not settle", file("e9", 100, 9), unsettled, 4,
         "9 processes measured the base, and 1 (9 others did not settle) the new side."},
        {"three, nothing differs", file("a3", 100, 3), file("a3", 100, 3), 4, "1 with too few processes"},
        {"seven", file("a7", 100, 7), file("b7", 300, 7), 1, "1 slower"},
        {"scattered upwards", file("a9", 100, 9, 0.1), file("b9", 110, 9, 0.1), 4, "cannot be told whether 1 of them"},
        {"scattered, but faster", file("b9", 110, 9, 0.1), file("a9", 100, 9, 0.1), 0, "1 unreliable"},
    };
    for (const auto& row : rows) {
        const ProgramResult result = dmlconform({"compare", row.base, row.now});
        EXPECT_TRUE(ends_with_code(result, row.exit_code)) << row.what;
        EXPECT_TRUE(prints(result, row.message)) << row.what;
    }
}

TEST(Compare, ThresholdsArePercentages) {
    const TemporaryFolder folder;
    const std::string base = folder.write("base.json", results(100));
    const std::string slower = folder.write("slower.json", results(110));
    const auto code = [&](const char* threshold) {
        return dmlconform({"compare", base, slower, "--threshold", threshold}).exit_code;
    };
    for (const char* accepting : {"20%", "20", "11", "1e3", "12.5%"}) {
        EXPECT_EQ(code(accepting), 0) << accepting;
    }
    for (const char* refusing : {"9", "9%", "0.2", "0.2%", "0"}) {
        EXPECT_EQ(code(refusing), 1) << refusing << " is less than a slowdown of 10 %";
    }
    for (const char* wrong : {"much", "%", "5%%", "-1", "nan", "inf", "1001", " 5", "5 %", "0x5"}) {
        const ProgramResult result = dmlconform({"compare", base, slower, std::string("--threshold=") + wrong});
        EXPECT_TRUE(ends_with_code(result, 2)) << wrong;
        EXPECT_TRUE(complains(result, "a percentage from 0 to 1000 is needed, for example 5%")) << wrong;
    }
}

TEST(Compare, BenchmarksThatAreGoneFail) {
    const TemporaryFolder folder;
    const auto document = [](const std::vector<std::string>& names) {
        json all{{"benchmarks", json::array()}};
        for (const std::string& name : names) {
            for (int i = 0; i < 7; ++i) {
                all["benchmarks"].push_back({{"name", name}, {"real_time", 100}, {"time_unit", "us"}, {"process", i}});
            }
        }
        return all.dump();
    };
    const std::string both = folder.write("both.json", document({"cpu/a", "cpu/b"}));
    const std::string one = folder.write("one.json", document({"cpu/a"}));
    const std::string other = folder.write("other.json", document({"cpu/c"}));
    const ProgramResult gone = dmlconform({"compare", both, one});
    EXPECT_TRUE(ends_with_code(gone, 1));
    EXPECT_TRUE(prints(gone, "only in base: cpu/b\n"));
    EXPECT_TRUE(prints(gone, "0 slower, 0 faster, 0 unreliable, 1 as before\n1 benchmark of the base is gone"));
    EXPECT_TRUE(prints(gone, "(--allow-missing accepts it)"));
    const ProgramResult allowed = dmlconform({"compare", both, one, "--allow-missing"});
    EXPECT_TRUE(ends_with_code(allowed, 0));
    EXPECT_TRUE(prints(allowed, "1 benchmark of the base is gone\n"));
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", one, both}), 0)) << "new ones are welcome";
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", one, other, "--allow-missing"}), 1)) << "nothing was compared";
}

}  // namespace
}  // namespace dmlconform::tests::bench_test
