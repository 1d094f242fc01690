// Tests of engine/history/store: added records are stored exactly once, and those that a killed writer was adding are
// not.
#include "engine/history/store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/history/export.h"
#include "engine/history/moment.h"
#include "engine/history/trends.h"
#include "engine/history/verdict.h"
#include "tests/temporary_folder.h"

namespace dmlconform::history::store_test {
namespace {

/// A run of benchmarks, measured at that second.
Record bench_record(std::int64_t measured, double seconds, const std::string& driver = "D1") {
    Record record;
    record.kind = Kind::bench;
    record.measured = measured;
    record.machine = "M";
    record.devices = {{"cpu", "A", driver}};
    record.times = {{"cpu/a", "cpu", {seconds, 2 * seconds, 3 * seconds}, 40.0}, {"plain", "", {1.0}, std::nullopt}};
    return record;
}

Record run_record(std::int64_t measured) {
    Record record;
    record.kind = Kind::run;
    record.measured = measured;
    record.devices = {{"cpu", "A", ""}};
    record.outcomes = {{"cpu", "SLICE1", true, {7, 1}, 0.5}, {"cpu", "SLICE1", false, {0, 0, 2}, 0}};
    return record;
}

std::unique_ptr<Store> open(const std::string& path, Store::Access access = Store::Access::write) {
    auto store = Store::open(path, access);
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    return store ? std::move(*store) : nullptr;
}

std::string refusal(const std::string& path, Store::Access access) {
    const auto store = Store::open(path, access);
    return store ? "opened" : store.error().message;
}

TEST(Store, WhatIsAddedIsThere) {
    const tests::TemporaryFolder folder;
    const std::string path = folder.at("h.sqlite");
    {
        const auto added = open(path)->add(
            std::vector<Submission>{{bench_record(200, 1e-6, "D2"), "c2", "b"}, {bench_record(100, 2e-6), "c1", "a"}});
        ASSERT_TRUE(added);
        EXPECT_FALSE((*added)[0].known);
        EXPECT_EQ((*added)[1].commit, "c1");
    }
    const auto store = open(path, Store::Access::read);
    const auto entries = store->entries();
    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_EQ((*entries)[0].commit, "c1") << "in order of time";
    const auto series = store->series();
    ASSERT_TRUE(series);
    ASSERT_EQ(series->size(), 2u);
    EXPECT_EQ((*series)[0].benchmark, "cpu/a");
    EXPECT_EQ((*series)[0].adapter, "A");
    ASSERT_EQ((*series)[0].points.size(), 2u);
    const Point& point = (*series)[0].points[1];
    EXPECT_EQ(point.commit, "c2");
    EXPECT_EQ(point.driver, "D2");
    EXPECT_DOUBLE_EQ(point.median, 2e-6);
    EXPECT_DOUBLE_EQ(point.low, 1.5e-6);
    EXPECT_DOUBLE_EQ(point.high, 2.5e-6);
    EXPECT_EQ(point.repetitions, 3u);
    EXPECT_EQ(point.percent_of_roofline, 40.0);
    EXPECT_EQ((*series)[1].points[0].percent_of_roofline, std::nullopt);
    const auto record = store->record((*entries)[1].id);
    ASSERT_TRUE(record);
    EXPECT_EQ(fingerprint(*record), fingerprint(bench_record(200, 1e-6, "D2"))) << "nothing is lost";
}

/// A benchmark that the processor's clock timed in processes with these times, two repetitions in each.
Record timed_by_processor(std::int64_t measured, const std::vector<double>& seconds) {
    Record record = bench_record(measured, 1);
    Times times{"cpu/a/process_time/manual_time", "cpu", {}, std::nullopt, {}};
    for (const double second : seconds) {
        times.seconds.insert(times.seconds.end(), {second, second});
        times.by_process.push_back(2);
    }
    record.times = {times};
    return record;
}

TEST(Store, TheFastestProcessCountsByTheProcessorsClock) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    ASSERT_TRUE(store->add(std::vector<Submission>{{timed_by_processor(1, {1.4, 1.02, 1.7, 1.0, 1.1}), "c1", "a"}}));
    ASSERT_TRUE(store->add(std::vector<Submission>{{bench_record(2, 1), "c2", "b"}}));
    const auto all = store->series();
    ASSERT_TRUE(all);
    const Point& by_processor = all->at(1).points.at(0);
    EXPECT_EQ(all->at(1).benchmark, "cpu/a/process_time/manual_time");
    EXPECT_DOUBLE_EQ(by_processor.level(), 1.0);
    EXPECT_DOUBLE_EQ(by_processor.median, 1.1);
    EXPECT_NEAR(by_processor.error(), std::log(1.1) / 2, 1e-12);
    const Point& other = all->at(0).points.at(0);
    EXPECT_FALSE(other.fastest);
    EXPECT_DOUBLE_EQ(other.level(), other.median);
}

/// Most processes of each result were disturbed, each result by another share, and one process of ten was not.
TEST(Store, ASlowdownIsFoundBelowDisturbances) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    for (int i = 0; i < 10; ++i) {
        const double time = i < 5 ? 1 : 1.2;
        const double disturbance = 1.1 + 0.5 * ((i * 7) % 10) / 10;
        std::vector<double> seconds(6, time * disturbance);
        seconds.insert(seconds.end(), {time, time * 1.005, time * 1.01, time * 1.3});
        ASSERT_TRUE(store->add(std::vector<Submission>{{timed_by_processor(i, seconds), fmt::format("c{}", i), "a"}}));
    }
    const auto all = store->series();
    ASSERT_TRUE(all);
    const auto changes = changes_of(all->at(0), {});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].index, 5U);
    EXPECT_NEAR(changes[0].after / changes[0].before, 1.2, 1e-9);
    // The medians of the same results do not tell.
    Series by_median = all->at(0);
    for (Point& point : by_median.points) {
        point.fastest.reset();
    }
    EXPECT_TRUE(changes_of(by_median, {}).empty());
}

TEST(Store, OutcomesOfRuns) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    ASSERT_TRUE(store->add(std::vector<Submission>{{run_record(100), "c1", "a"}}));
    const auto outcomes = store->outcomes();
    ASSERT_TRUE(outcomes);
    ASSERT_EQ(outcomes->size(), 1u) << "those on the gate";
    EXPECT_EQ((*outcomes)[0].operator_name, "SLICE1");
    EXPECT_EQ((*outcomes)[0].points.at(0).outcome.counts, (std::array<std::uint64_t, run::status_count>{7, 1}));
    const auto record = store->record(1);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->outcomes.size(), 2u);
}

TEST(Store, TheSameResultIsAddedOnce) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    const std::vector<Submission> one{{bench_record(100, 1e-6), "c1", "a"}};
    ASSERT_TRUE(store->add(one));
    const auto again = store->add(std::vector<Submission>{{bench_record(100, 1e-6), "c2", "copy"}});
    ASSERT_TRUE(again);
    EXPECT_TRUE((*again)[0].known);
    EXPECT_EQ((*again)[0].commit, "c1");
    ASSERT_TRUE(store->add(std::vector<Submission>{{bench_record(100, 1.1e-6), "c1", "other"}}));
    EXPECT_EQ(store->entries()->size(), 2u);
}

TEST(Store, ResultsThatDifferInTheGateAreNotTheSame) {
    Record off = run_record(100);
    for (Outcome& outcome : off.outcomes) {
        outcome.gated = !outcome.gated;
    }
    EXPECT_NE(fingerprint(off), fingerprint(run_record(100)));
}

TEST(Record, TheRooflineIsTheMiddleOfAllRepetitions) {
    const tests::TemporaryFolder folder;
    std::string runs;
    for (const int percent : {90, 10, 40}) {
        runs += fmt::format(R"({}{{ "name": "a", "run_name": "a", "run_type": "iteration", "repetition_index": 0,
            "real_time": 1.0, "cpu_time": 1.0, "time_unit": "us", "percent_of_roofline": {} }})",
                            runs.empty() ? "" : ",", percent);
    }
    const auto record = read_record(folder.write(
        "b.json", R"({ "context": { "date": "2026-11-22T00:00:00+00:00" }, "benchmarks": [)" + runs + "] }"));
    ASSERT_TRUE(record.has_value()) << record.error().message;
    ASSERT_EQ(record->times.size(), 1u);
    EXPECT_EQ(record->times[0].percent_of_roofline, 40.0);
}

TEST(Record, LabelsOfOtherProgramsSayNothingOfDescriptors) {
    const tests::TemporaryFolder folder;
    const auto label_with = [&](const char* context) {
        const auto record = read_record(folder.write(
            "b.json", fmt::format(R"({{ "context": {{ {} }}, "benchmarks": [{{ "name": "cpu/a", "real_time": 1.0,
                "time_unit": "us", "label": "GEMM 12" }}] }})",
                                  context)));
        return record ? record->times.at(0).label : record.error().message;
    };
    EXPECT_EQ(label_with(R"("dmlconform.cpu.adapter": "A")"), "GEMM 12");
    EXPECT_EQ(label_with(""), "");
}

/// A page shows only the newest points.
TEST(Trends, LongSeriesLoseTheirOldestPoints) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    std::vector<Submission> all;
    for (std::size_t i = 0; i < most_points + 3; ++i) {
        all.push_back({bench_record(static_cast<std::int64_t>(i), 1e-6), fmt::format("c{}", i), "a"});
    }
    ASSERT_TRUE(store->add(all));
    const auto drawn = trends(*store);
    ASSERT_TRUE(drawn.has_value());
    const auto& points = drawn->at(0)["points"];
    ASSERT_EQ(points.size(), most_points);
    EXPECT_EQ(points[0]["commit"], "c3");
    EXPECT_EQ(points[most_points - 1]["commit"], fmt::format("c{}", most_points + 2));
}

TEST(Store, FilesThatAreNone) {
    const tests::TemporaryFolder folder;
    EXPECT_NE(refusal(folder.at("none"), Store::Access::read).find("there is no history"), std::string::npos);
    EXPECT_NE(refusal(folder.at("no/such/folder"), Store::Access::write).find("cannot be opened"), std::string::npos);
    for (const Store::Access access : {Store::Access::read, Store::Access::write}) {
        EXPECT_NE(refusal(folder.at(""), access).find("is not a file"), std::string::npos);
        EXPECT_NE(refusal("", access).find("is not a file"), std::string::npos);
        const std::string text = folder.write("text", std::string(5000, 'x'));
        EXPECT_NE(refusal(text, access).find("this is not a history"), std::string::npos);
        EXPECT_EQ(tests::content_of(text), std::string(5000, 'x')) << "untouched";
    }
    EXPECT_NE(refusal(folder.write("empty", ""), Store::Access::read).find("there is nothing in it"),
              std::string::npos);
}

/// Runs SQL on a file, like another program.
void run_sql(const std::string& path, const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
}

TEST(Store, DatabasesOfOthersAndOfLaterVersions) {
    const tests::TemporaryFolder folder;
    const std::string other = folder.at("other");
    run_sql(other, "CREATE TABLE t(a)");
    const std::string later = folder.at("later");
    ASSERT_TRUE(open(later));
    run_sql(later, "PRAGMA user_version = 3");
    for (const Store::Access access : {Store::Access::read, Store::Access::write}) {
        EXPECT_NE(refusal(other, access).find("no history of dmlconform"), std::string::npos);
        EXPECT_NE(refusal(later, access).find("is of version 3"), std::string::npos);
    }
}

/// A result of cpu/a with that descriptor.
Record labelled_record(std::int64_t measured, double seconds, const std::string& label) {
    Record record = bench_record(measured, seconds);
    record.times[0].label = label;
    return record;
}

TEST(Store, AnotherDescriptorStartsAnotherSeries) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    std::vector<Submission> all;
    for (const char* label : {"GEMM a", "", "GEMM a", "GEMM b", "", "GEMM a"}) {
        all.push_back({labelled_record(static_cast<std::int64_t>(all.size()), 1e-6, label), "c", "a"});
    }
    ASSERT_TRUE(store->add(all));
    const auto series = store->series();
    ASSERT_TRUE(series);
    ASSERT_EQ(series->size(), 3u);
    const auto entries_of = [](const Series& one) {
        std::vector<std::int64_t> entries;
        for (const Point& point : one.points) {
            entries.push_back(point.entry);
        }
        return entries;
    };
    EXPECT_EQ((*series)[0].title(), "cpu/a (GEMM a)");
    EXPECT_EQ(entries_of((*series)[0]), (std::vector<std::int64_t>{1, 2, 3, 6}));
    EXPECT_EQ((*series)[1].title(), "cpu/a (GEMM b)");
    EXPECT_FALSE((*series)[0].replaced) << "it has the newest result";
    EXPECT_TRUE((*series)[1].replaced);
    EXPECT_EQ(judge((*series)[1], {}, NewestResults(*series, 8)).verdict, Verdict::gone);
    EXPECT_EQ(entries_of((*series)[1]), (std::vector<std::int64_t>{4, 5}));
    EXPECT_EQ((*series)[2].title(), "plain");
    EXPECT_EQ(fingerprint(*store->record(4)), fingerprint(all[3].record)) << "the label is kept";
}

TEST(Store, ResultsOfOtherDescriptorsAreNotTheSame) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    const auto add = [&](const char* label) {
        return store->add(std::vector<Submission>{{labelled_record(0, 1e-6, label), "c", "a"}})->at(0);
    };
    EXPECT_FALSE(add("GEMM a").known);
    EXPECT_FALSE(add("GEMM b").known);
    EXPECT_EQ(add("GEMM a").entry, 1);
    EXPECT_TRUE(add("GEMM b").known);
}

/// Turns a history into one of version 1, with the table of that version.
void make_version_1(const std::string& path) {
    run_sql(path, R"(CREATE TABLE old (
    entry INTEGER NOT NULL REFERENCES entry,
    benchmark TEXT NOT NULL,
    engine TEXT NOT NULL,
    median REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    percent_of_roofline REAL,
    seconds TEXT NOT NULL,
    PRIMARY KEY (entry, benchmark)
) WITHOUT ROWID;
INSERT INTO old SELECT entry, benchmark, engine, median, low, high, percent_of_roofline, seconds FROM times;
DROP TABLE times;
ALTER TABLE old RENAME TO times;
PRAGMA user_version = 1)");
}

TEST(Store, HistoriesOfVersion1AreReadAndContinued) {
    const tests::TemporaryFolder folder;
    const std::string path = folder.at("h.sqlite");
    ASSERT_TRUE(open(path)->add(std::vector<Submission>{{bench_record(1, 1e-6), "c1", "a"}}));
    make_version_1(path);
    const std::string before = tests::content_of(path);
    {
        const auto store = open(path, Store::Access::read);
        EXPECT_EQ(store->series()->at(0).points.size(), 1u);
        EXPECT_EQ(fingerprint(*store->record(1)), fingerprint(bench_record(1, 1e-6)));
        EXPECT_TRUE(csv(*store));
    }
    EXPECT_EQ(tests::content_of(path), before) << "reading changes nothing";
    const auto store = open(path);
    // The program now reads the label of the result that was added without it.
    const auto added = store->add(std::vector<Submission>{{labelled_record(1, 1e-6, "GEMM a"), "c1", "a"},
                                                          {labelled_record(2, 1e-6, "GEMM a"), "c2", "b"}});
    ASSERT_TRUE(added);
    EXPECT_TRUE(added->at(0).known);
    EXPECT_FALSE(added->at(1).known);
    const auto series = store->series();
    ASSERT_EQ(series->size(), 2u);
    EXPECT_EQ(series->at(0).points.size(), 2u);
    EXPECT_EQ(series->at(0).label, "GEMM a");
    EXPECT_EQ(open(path, Store::Access::read)->series()->at(0).label, "GEMM a");
}

TEST(Store, OddContentsAreLeftOut) {
    const tests::TemporaryFolder folder;
    const std::string path = folder.at("h.sqlite");
    ASSERT_TRUE(
        open(path)->add(std::vector<Submission>{{bench_record(100, 1e-6), "c", "a"}, {run_record(200), "c", "b"}}));
    run_sql(path,
            "UPDATE times SET seconds = '[]' WHERE benchmark = 'plain'; UPDATE times SET seconds = 'x' WHERE benchmark "
            "= 'cpu/a'; UPDATE outcome SET counts = '[1]'");
    const auto store = open(path, Store::Access::read);
    EXPECT_TRUE(store->record(1)->times.empty());
    EXPECT_EQ(store->record(2)->outcomes.at(0).counts, (std::array<std::uint64_t, run::status_count>{}));
    EXPECT_TRUE(csv(*store));
}

TEST(Store, AFileThatIsCutOffIsDamagedNotRepaired) {
    const tests::TemporaryFolder folder;
    const std::string path = folder.at("h.sqlite");
    std::vector<Submission> many;
    for (int i = 0; i < 200; ++i) {
        many.push_back({bench_record(i, 1e-6), "c", "a"});
    }
    ASSERT_TRUE(open(path)->add(many));
    const std::string cut = folder.write("cut.sqlite", tests::content_of(path).substr(0, 9000));
    EXPECT_NE(refusal(cut, Store::Access::write).find("damaged"), std::string::npos);
    EXPECT_EQ(tests::content_of(cut).size(), 9000u);
}

TEST(Store, OtherTablesThanThoseOfAHistoryAreDamage) {
    const tests::TemporaryFolder folder;
    const std::string path = folder.at("h.sqlite");
    ASSERT_TRUE(open(path)->add(std::vector<Submission>{{bench_record(0, 1e-6), "c", "a"}}));
    run_sql(path, "ALTER TABLE entry RENAME COLUMN fingerprint TO print; DROP TABLE times");
    const auto writing = open(path)->add(std::vector<Submission>{{bench_record(1, 1e-6), "c", "a"}});
    ASSERT_FALSE(writing);
    EXPECT_NE(writing.error().message.find("h.sqlite: the history is damaged: its tables are not"), std::string::npos)
        << writing.error().message;
    const auto reading = open(path, Store::Access::read)->series();
    ASSERT_FALSE(reading);
    EXPECT_NE(reading.error().message.find("the history is damaged"), std::string::npos) << reading.error().message;
}

TEST(Export, GoogleBenchmarkAndBencher) {
    Record record = bench_record(0, 1e-6);
    record.times[0].label = "GEMM 0123456789abcdef";
    const std::string gbench = google_benchmark_json(record, {1, Kind::bench, 0, "c1", "M", "a"});
    const tests::TemporaryFolder folder;
    const auto back = read_record(folder.write("g.json", gbench));
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->times.size(), 2u);
    EXPECT_EQ(back->times[0].seconds.size(), 3u);
    EXPECT_NEAR(back->times[0].seconds[1], 2e-6, 1e-18);
    EXPECT_EQ(back->times[0].percent_of_roofline, 40.0);
    EXPECT_EQ(back->times[0].label, "GEMM 0123456789abcdef");
    EXPECT_EQ(back->measured, 0);
    EXPECT_EQ(back->machine, "M");
    ASSERT_EQ(back->devices.size(), 1u);
    EXPECT_EQ(back->devices[0].driver, "D1");
    const std::string bmf = bencher_metrics(record);
    EXPECT_NE(bmf.find("\"cpu/a\": {\n    \"latency\": {\n      \"value\": 2000.0"), std::string::npos) << bmf;
    EXPECT_NE(bencher_metrics(run_record(0)).find("\"cpu/SLICE1\""), std::string::npos);
}

TEST(Export, Csv) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    Record record = bench_record(0, 1e-6);
    record.machine = "one, \"two\"";
    ASSERT_TRUE(store->add(std::vector<Submission>{{record, "c1", "a"}, {run_record(60), "c2", "b"}}));
    const auto text = csv(*store);
    ASSERT_TRUE(text);
    for (const char* line : {
             "1,bench,1970-01-01T00:00:00Z,c1,\"one, \"\"two\"\"\",cpu,A,D1,cpu/a,median_seconds,2e-06\r\n",
             "2,run,1970-01-01T00:01:00Z,c2,,cpu,A,,SLICE1,pass,7\r\n",
             "2,run,1970-01-01T00:01:00Z,c2,,cpu,A,,SLICE1,skip_off_the_gate,2\r\n",
         }) {
        EXPECT_NE(text->find(line), std::string::npos) << line << "\n" << *text;
    }
}

TEST(Export, TextsInCsvAreNoFormulas) {
    const tests::TemporaryFolder folder;
    const auto store = open(folder.at("h.sqlite"));
    std::vector<Submission> submissions;
    const std::pair<const char*, const char*> rows[] = {{"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
                                                        {"+1", "'+1"},
                                                        {"-1", "'-1"},
                                                        {"@SUM(A1)", "'@SUM(A1)"},
                                                        {"\t=1", "'\t=1"},
                                                        {"=1,2", "\"'=1,2\""},
                                                        {"a=1", "a=1"},
                                                        {"'=1", "'=1"}};
    std::int64_t measured = 0;
    for (const auto& [machine, field] : rows) {
        Record record = bench_record(measured++, 1e-6);
        record.machine = machine;
        submissions.push_back({record, "c", machine});
    }
    ASSERT_TRUE(store->add(submissions));
    const auto text = csv(*store);
    ASSERT_TRUE(text);
    for (const auto& [machine, field] : rows) {
        EXPECT_NE(text->find(std::string(",c,") + field + ",cpu,"), std::string::npos) << machine << "\n" << *text;
    }
}

TEST(Moment, ThereAndBack) {
    EXPECT_EQ(parse_moment("1970-01-01T00:00:00Z"), 0);
    EXPECT_EQ(parse_moment("2026-11-21T14:04:42+01:00"), parse_moment("2026-11-21T13:04:42Z"));
    EXPECT_EQ(format_moment(*parse_moment("2026-11-21T13:04:42Z")), "2026-11-21T13:04:42Z");
    for (const char* text :
         {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T25:00:00Z", "2026-11-21T13:04:42",
          "2026-11-21T13:04:42+1:00", "2026/11/21 13:04", "-026-11-21T13:04:42Z"}) {
        EXPECT_EQ(parse_moment(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace dmlconform::history::store_test
