// `dmlconform bench` and `dmlconform compare`, as a user runs them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
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

TEST(Bench, TimesWhatIsTaggedAndRight) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("a.json", file_of({tagged("good", right_values), slice_case("untagged", right_values)}));
    const std::string out = folder.at("out.json");
    const ProgramResult result = bench(file, {"--benchmark_repetitions=3", "--benchmark_out=" + out});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "benchmark "));
    EXPECT_TRUE(prints(result, "cpu/a/good/real_time "));
    EXPECT_FALSE(prints(result, "real_time_median")) << "one line for each benchmark";
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
    EXPECT_EQ(repetitions, 3u);
    EXPECT_TRUE(document.at("context").contains("dmlconform.machine"));
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", out, out}), 0)) << "nothing is slower than itself";
}

/// Google Benchmark goes on without what it cannot read, and waits for ever for a time that is not a number.
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
    // So many levels end the program if they are read.
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

TEST(Bench, GoogleBenchmarksTable) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const ProgramResult result = bench(file, {"--benchmark_repetitions=2", "--benchmark_format=console"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "cpu/a/good/real_time_median"));
}

TEST(Bench, CpuTime) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", file_of({tagged("good", right_values)}));
    const ProgramResult result = bench(file, {"--benchmark_repetitions=1", "--cpu-time"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "cpu/a/good/manual_time")) << "not to be compared with time on the wall";
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

TEST(Bench, NothingToTime) {
    const TemporaryFolder folder;
    const std::string untagged = folder.write("a.json", good_file());
    const ProgramResult none = bench(untagged, {});
    EXPECT_TRUE(ends_with_code(none, 2));
    EXPECT_TRUE(complains(none, "no case has the tag \"bench\""));
    EXPECT_TRUE(ends_with_code(bench(untagged, {"--filter", "*good*", "--benchmark_filter=no such thing"}), 1));
    const ProgramResult unknown = bench(untagged, {"--cald"});
    EXPECT_TRUE(ends_with_code(unknown, 2));
    EXPECT_TRUE(complains(unknown, "bench has no option --cald"));
}

/// Results with nine repetitions around a time.
std::string results(double microseconds, const char* machine = "M") {
    json document{{"context", {{"dmlconform.machine", machine}}}, {"benchmarks", json::array()}};
    for (int i = 0; i < 9; ++i) {
        document["benchmarks"].push_back(
            {{"name", "cpu/a"}, {"real_time", microseconds * (1 + 0.001 * i)}, {"time_unit", "us"}});
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
    const ProgramResult paired = dmlconform({"compare", "--paired", "--base", base, base, base, base, base, base,
                                             "--new", slower, slower, slower, slower, slower, slower});
    EXPECT_TRUE(ends_with_code(paired, 1));
    EXPECT_TRUE(prints(paired, "1 slower"));
    EXPECT_TRUE(prints(paired, "0.031")) << "2 of 64 signs";

    const ProgramResult other = dmlconform({"compare", base, elsewhere});
    EXPECT_TRUE(ends_with_code(other, 2));
    EXPECT_TRUE(complains(other, "dmlconform.machine: M and N"));
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", base, elsewhere, "--force"}), 0));

    const ProgramResult truncated = dmlconform({"compare", base, cut});
    EXPECT_TRUE(ends_with_code(truncated, 2));
    EXPECT_TRUE(complains(truncated, "cut.json: this is not JSON, or not all of it"));
    EXPECT_TRUE(ends_with_code(dmlconform({"compare", base, folder.at("none.json")}), 2));
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
            all["benchmarks"].push_back({{"name", name}, {"real_time", 100}, {"time_unit", "us"}});
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
