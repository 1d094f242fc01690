// Tests of shards and of merging them, as CI systems do: shards chosen by option or environment variable.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::shard_test {
namespace {

using Json = nlohmann::ordered_json;
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

class Shards : public testing::Test {
protected:
    /// 301 cases: one fails, some can only be computed by the reference, and one is outside the gate.
    Shards() {
        folder_.write("cases/many.json", R"({ "cases": [
            { "name": "sweep", "operator": "SLICE1", "sweep": { "n": [1,2,3,4,5,6,7,8,9,10], "m": [1,2,3,4,5,6,7,8,9,10],
                "T": ["FLOAT32", "INT8"] },
              "desc": { "InputTensor": { "DataType": "${T}", "Sizes": ["${n}", "${m}"] },
                        "OutputTensor": { "DataType": "${T}", "Sizes": ["${n}", "${m}"] },
                        "InputWindowOffsets": [0, 0], "InputWindowSizes": ["${n}", "${m}"], "InputWindowStrides": [1, 1] },
              "inputs": { "InputTensor": { "value": 3 } }, "expected": { "OutputTensor": { "value": 3 } } },
            { "name": "reference", "operator": "SLICE1", "sweep": { "seed": [1,2,3,4,5,6,7,8,9,10], "n": [1,2,3,4,5,6,7,8,9] },
              "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": ["${n}"] },
                        "OutputTensor": { "DataType": "FLOAT32", "Sizes": ["${n}"] },
                        "InputWindowOffsets": [0], "InputWindowSizes": ["${n}"], "InputWindowStrides": [1] },
              "inputs": { "InputTensor": { "random": "uniform", "min": 0, "max": 1, "seed": "${seed}" } } },
            { "name": "skipped", "operator": "ACTIVATION_IDENTITY", "sweep": { "n": [1,2,3,4,5,6,7,8,9] },
              "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,"${n}"] },
                        "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1,1,1,"${n}"] } },
              "inputs": { "InputTensor": { "value": 1 } }, "expected": { "OutputTensor": { "value": 1 } } }
        ] })");
        folder_.write("cases/bad.json",
                      file_of({slice_case("good", right_values), slice_case("bad", wrong_values),
                               slice_case("off", std::string(wrong_values) + R"(, "tags": ["unspecified"])")}));
    }

    ProgramResult run(std::vector<std::string> more, Variables environment = {}) {
        std::vector<std::string> words{"run", folder_.at("cases"), "--engine", "cpu", "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        ProgramOptions options;
        options.environment = std::move(environment);
        return dmlconform(words, options);
    }

    std::vector<std::string> run_shards(std::size_t count, const std::vector<std::string>& more = {}) {
        std::vector<std::string> files;
        for (std::size_t i = 1; i <= count; ++i) {
            files.push_back(folder_.at(fmt::format("shard-{}.json", i)));
            std::vector<std::string> words{"--shard", fmt::format("{}/{}", i, count), "--json", files.back()};
            words.insert(words.end(), more.begin(), more.end());
            const int code = run(words).exit_code;
            EXPECT_TRUE(code == 0 || code == 1) << code;
        }
        return files;
    }

    ProgramResult merge(std::vector<std::string> files, const std::vector<std::string>& more = {}) {
        files.insert(files.begin(), "merge");
        files.insert(files.end(), more.begin(), more.end());
        return dmlconform(files);
    }

    [[nodiscard]] static Json read(const std::string& path) { return Json::parse(content_of(path)); }

    /// Removes what differs from run to run.
    [[nodiscard]] static Json timeless(Json document) {
        for (const char* member : {"started", "durationNanoseconds", "command"}) {
            document.erase(member);
        }
        for (Json& result : document["results"]) {
            result.erase("timing");
        }
        return document;
    }

    [[nodiscard]] static std::string examples() { return cases_folder() + "/../docs/ci"; }

    TemporaryFolder folder_;
};

TEST_F(Shards, AnEngineThatSkipsAllIsNoticedWhenTheyAreMerged) {
    // This worker supports only SLICE1.
    const std::string worker = std::string("exec:python3 -B ") + EXAMPLE_WORKER;
    std::vector<std::string> files;
    for (const char* shard : {"1/2", "2/2"}) {
        files.push_back(folder_.at(fmt::format("idle-{}.json", shard[0])));
        EXPECT_TRUE(ends_with_code(dmlconform({"run", cases_folder() + "/top_k1/examples.json", "--engine", "cpu",
                                               "--engine", worker, "--shard", shard, "--json", files.back()}),
                                   0))
            << "it may have what another shard has";
    }
    const ProgramResult result = merge(files);
    EXPECT_TRUE(ends_with_code(result, 1));
    EXPECT_TRUE(prints(result, "Nothing was verified on exec:python"));
}

TEST_F(Shards, MergedAreWhatOneRunGives) {
    const std::string all = folder_.at("all.json");
    const std::string merged = folder_.at("merged.json");
    const int exit_code = run({"--json", all}).exit_code;
    const Json whole = timeless(read(all));
    ASSERT_EQ(whole["results"].size(), 302u);
    struct {
        std::size_t count;
        std::vector<std::string> more;
    } const ways[] = {{7, {}}, {3, {"--durations", all}}, {1, {}}};
    for (const auto& [count, more] : ways) {
        std::vector<std::string> files = run_shards(count, more);
        std::reverse(files.begin(), files.end());
        const ProgramResult result = merge(files, {"--json", merged});
        EXPECT_TRUE(ends_with_code(result, exit_code));
        EXPECT_EQ(result.errors, "");
        EXPECT_TRUE(prints(result, "302 results in "));
        EXPECT_EQ(timeless(read(merged)), whole) << count;
    }
}

/// Results with impossible numbers are not merged.
TEST_F(Shards, NumbersThatCannotBeAreNotMerged) {
    const std::vector<std::string> files = run_shards(2, {});
    const Json good = read(files[0]);
    const auto merged_with = [&](const std::function<void(Json&)>& change) {
        Json changed = good;
        change(changed);
        return merge({folder_.write("changed.json", changed.dump()), files[1]});
    };
    const ProgramResult too_many = merged_with([](Json& shard) { shard["shard"]["casesOfAll"] = 1; });
    EXPECT_TRUE(ends_with_code(too_many, 2));
    EXPECT_TRUE(complains(too_many, "this is not a result of a shard"));
    const ProgramResult fewer = [&] {
        Json first = good;
        Json second = read(files[1]);
        first["shard"]["casesOfAll"] = 100'000;
        second["shard"]["casesOfAll"] = 100'000;
        return merge({folder_.write("a.json", first.dump()), folder_.write("b.json", second.dump())});
    }();
    EXPECT_TRUE(ends_with_code(fewer, 2));
    EXPECT_TRUE(complains(fewer, "cases together, and say that all of them have 100000"));
    for (const int code : {129, 130, 143}) {
        const ProgramResult interrupted = merged_with([&](Json& shard) { shard["exitCode"] = code; });
        EXPECT_TRUE(ends_with_code(interrupted, 1));
        EXPECT_TRUE(complains(interrupted, "shard 1/2 was interrupted"));
    }
    // The merged run began with its earliest shard, whichever that is.
    for (const char* started : {"2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"}) {
        Json second = read(files[1]);
        second["started"] = started;
        const std::string merged = folder_.at("merged.json");
        (void)merge({files[0], folder_.write("b.json", second.dump())}, {"--json", merged});
        EXPECT_EQ(read(merged)["started"], std::min<std::string>(started, good["started"]));
    }
    const ProgramResult most_missing = [&] {
        Json one = good;
        one["shard"]["count"] = 1'000'000;
        return merge({folder_.write("one.json", one.dump())});
    }();
    EXPECT_TRUE(ends_with_code(most_missing, 1));
    EXPECT_EQ(most_missing.errors, "dmlconform: shards 2 to 1000000 of 1000000 are missing\n");
}

TEST_F(Shards, WhatDecidesNothingIsNotMissedEither) {
    const std::string file = folder_.write(
        "off.json", file_of({slice_case("good", right_values), slice_case("off", R"(, "tags": ["unspecified"])")}));
    const std::string one = folder_.at("one.json");
    const std::string merged = folder_.at("merged.json");
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file, "--engine", "cpu", "--shard", "1/1", "--json", one}), 0));
    EXPECT_TRUE(ends_with_code(merge({one}, {"--json", merged, "--strict"}), 0));
    EXPECT_EQ(read(one)["unverified"]["cases"], 0);
    EXPECT_EQ(read(merged)["unverified"]["cases"], 0);
}

TEST_F(Shards, MergedWithAnOrderOfChanceAndRepetitions) {
    const std::string all = folder_.at("all.json");
    const std::string merged = folder_.at("merged.json");
    const std::vector<std::string> more{"--shuffle=5", "--repeat", "2"};
    EXPECT_TRUE(ends_with_code(run({"--shuffle=5", "--repeat", "2", "--json", all}), 1));
    EXPECT_TRUE(ends_with_code(merge(run_shards(3, more), {"--json", merged}), 1));
    EXPECT_EQ(timeless(read(merged)), timeless(read(all)));
}

TEST_F(Shards, MergeOfWhatIsAllRight) {
    const std::string filter = "--filter=many/sweep*";
    const ProgramResult result = merge(run_shards(4, {filter}), {"--summary", folder_.at("summary.md")});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_NE(content_of(folder_.at("summary.md")).find("200 of 200 results verified"), std::string::npos);
}

TEST_F(Shards, MergeWritesThePageOfARun) {
    const std::vector<std::string> files = run_shards(3);
    const std::string merged = folder_.at("merged.json");
    const std::string page = folder_.at("merged.html");
    for (const std::vector<std::string>& outputs :
         {std::vector<std::string>{"--html", page}, {"--html", page, "--json", merged}}) {
        const ProgramResult result = merge(files, outputs);
        if (result.errors.find("this build has no Chart.js") != std::string::npos) {
            GTEST_SKIP() << "this build has no Chart.js";
        }
        EXPECT_TRUE(ends_with_code(result, 1));
        const std::string text = content_of(page);
        EXPECT_EQ(occurrences(text, "</html>"), 1u);
        EXPECT_NE(text.find("bad/bad"), std::string::npos) << "the failure";
    }
    EXPECT_EQ(read(merged)["results"].size(), 302u);
}

TEST_F(Shards, MergeFailsForWhatFailsARunWithItsOptions) {
    for (const char* option : {"--fail-on-skip", "--strict"}) {
        for (const bool forbidden : {false, true}) {
            std::vector<std::string> more{"--filter", "many/*", "--feature-level", "2.0"};
            if (forbidden) {
                more.emplace_back(option);
            }
            const ProgramResult whole = run(more);
            EXPECT_TRUE(ends_with_code(whole, forbidden ? 1 : 0));
            const ProgramResult merged = merge(run_shards(3, more));
            EXPECT_TRUE(ends_with_code(merged, forbidden ? 1 : 0));
            const std::size_t at = whole.output.find("Skipped, which --fail-on-skip makes a failure:\n");
            EXPECT_EQ(at != std::string::npos, forbidden && option == std::string("--fail-on-skip"));
            if (at != std::string::npos) {
                EXPECT_TRUE(prints(merged, whole.output.substr(at)));
            }
        }
    }
}

TEST_F(Shards, MergeSaysWhatIsMissing) {
    std::vector<std::string> files = run_shards(4, {"--filter=many/sweep*"});
    const ProgramResult missing = merge({files[0], files[2]}, {"--summary", folder_.at("summary.md")});
    EXPECT_TRUE(ends_with_code(missing, 1));
    EXPECT_EQ(missing.errors, "dmlconform: shard 2/4 is missing\ndmlconform: shard 4/4 is missing\n");
    EXPECT_NE(content_of(folder_.at("summary.md")).find("shard 2/4 is missing"), std::string::npos);
    Json early = read(files[1]);
    const std::size_t count = early["results"].size();
    early["results"].erase(0);
    folder_.write("shard-2.json", early.dump());
    const ProgramResult short_one = merge(files);
    EXPECT_TRUE(ends_with_code(short_one, 1));
    EXPECT_TRUE(
        complains(short_one, fmt::format("shard 2/4 ended early: {} has {} of {} cases", files[1], count - 1, count)));
}

TEST_F(Shards, MergeRefusesWhatDoesNotBelongTogether) {
    const std::vector<std::string> files = run_shards(2);
    const std::string whole = folder_.at("whole.json");
    run({"--json", whole});
    const std::string fewer = folder_.at("fewer.json");
    run({"--json", fewer, "--shard", "2/2", "--filter", "many/*"});
    const std::string three = folder_.at("three.json");
    run({"--json", three, "--shard", "2/3"});
    const std::string timed = folder_.at("timed.json");
    run({"--json", timed, "--shard", "2/2", "--durations", whole});
    const auto changed = [&](const char* name, const auto& change) {
        Json document = read(files[1]);
        change(document);
        return folder_.write(name, document.dump());
    };
    const std::string text = content_of(files[1]);
    struct {
        std::string file;
        std::string message;
    } const wrong[] = {
        {whole, "this is not a result of a shard"},
        {files[0], "are both shard 1/2"},
        {fewer, "their cases are not the same"},
        {three, "one is of 2 shards, the other of 3"},
        {timed, "not divided in the same way"},
        {changed("engines.json", [](Json& d) { d["engines"][0]["driver"] = "other"; }), "their engines"},
        {changed("cases.json", [](Json& d) { d["shard"]["fingerprint"] = "0123456789abcdef"; }),
         "their cases are not the same"},
        {changed("versions.json", [](Json& d) { d["versions"]["fmt"] = "0"; }), "different versions"},
        {changed("shard.json", [](Json& d) { d["shard"]["index"] = 0; }), "this is not a result of a shard"},
        {changed("order.json", [&](Json& d) { d["results"][0]["order"] = read(files[0])["results"][0]["order"]; }),
         "several shards have run"},
        {folder_.write("cut.json", text.substr(0, text.size() / 2)), "this is not JSON, or not all of it"},
        {folder_.write("empty.json", ""), "this is not JSON, or not all of it"},
        {folder_.at("none.json"), "there is no such file"},
        {folder_.at("cases"), "this is a folder, not a file"},
    };
    for (const auto& [file, message] : wrong) {
        const ProgramResult result = merge({files[0], file}, {"--json", folder_.at("merged.json")});
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, message));
        EXPECT_FALSE(std::filesystem::exists(folder_.at("merged.json"))) << message;
    }
}

TEST_F(Shards, AnEmptyShardIsNoFailure) {
    std::size_t empty = 0;
    std::vector<std::string> files;
    for (int i = 1; i <= 5; ++i) {
        files.push_back(folder_.at(fmt::format("{}.json", i)));
        const ProgramResult result =
            run({"--filter", "bad/good", "--shard", fmt::format("{}/5", i), "--json", files.back()});
        EXPECT_TRUE(ends_with_code(result, 0));
        empty += occurrences(result.output, "This shard has none of the 1 cases.");
    }
    EXPECT_EQ(empty, 4u);
    EXPECT_TRUE(ends_with_code(merge(files), 0));
    // Selecting no case at all is an error.
    EXPECT_TRUE(ends_with_code(run({"--filter", "bad/nothing", "--shard", "1/5"}), 2));
}

TEST_F(Shards, BazelsEnvironment) {
    std::set<std::string> ids;
    for (int i = 0; i < 3; ++i) {
        const std::string status = folder_.at(fmt::format("status-{}", i));
        const std::string xml = folder_.at(fmt::format("test-{}.xml", i));
        const std::string json = folder_.at("result.json");
        const ProgramResult result = run({"--json", json}, {{"TEST_TOTAL_SHARDS", "3"},
                                                            {"TEST_SHARD_INDEX", std::to_string(i)},
                                                            {"TEST_SHARD_STATUS_FILE", status},
                                                            {"XML_OUTPUT_FILE", xml},
                                                            {"TESTBRIDGE_TEST_ONLY", "many/sweep*"}});
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_TRUE(std::filesystem::exists(status));
        EXPECT_NE(content_of(xml).find("<testsuites "), std::string::npos);
        const Json document = read(json);
        EXPECT_EQ(document["shard"]["index"], i + 1);
        for (const Json& entry : document["results"]) {
            EXPECT_TRUE(ids.insert(entry["id"].get<std::string>()).second);
        }
    }
    EXPECT_EQ(ids.size(), 200u);
}

TEST_F(Shards, GoogleTestsAndSlurmsEnvironment) {
    const std::string xml = folder_.at("gtest.xml");
    const Variables environments[] = {{{"GTEST_TOTAL_SHARDS", "3"},
                                       {"GTEST_SHARD_INDEX", "1"},
                                       {"GTEST_OUTPUT", "xml:" + xml},
                                       {"GTEST_FILTER", "many/*:bad/*"}},
                                      {{"SLURM_ARRAY_TASK_ID", "5"},
                                       {"SLURM_ARRAY_TASK_COUNT", "3"},
                                       {"SLURM_ARRAY_TASK_MIN", "4"},
                                       {"SLURM_ARRAY_TASK_MAX", "6"},
                                       {"SLURM_ARRAY_TASK_STEP", "1"}}};
    std::set<std::string> outcomes;
    for (const Variables& environment : environments) {
        run({"--json", folder_.at("result.json")}, environment);
        outcomes.insert(timeless(read(folder_.at("result.json")))["results"].dump());
    }
    run({"--json", folder_.at("result.json"), "--shard", "2/3"});
    outcomes.insert(timeless(read(folder_.at("result.json")))["results"].dump());
    EXPECT_EQ(outcomes.size(), 1u);
    EXPECT_TRUE(std::filesystem::exists(xml));
}

TEST_F(Shards, TheBazelExample) {
    std::size_t results = 0;
    for (int i = 0; i < 2; ++i) {
        ProgramOptions options;
        options.environment = {{"TEST_TOTAL_SHARDS", "2"},
                               {"TEST_SHARD_INDEX", std::to_string(i)},
                               {"TEST_SHARD_STATUS_FILE", folder_.at("status")},
                               {"XML_OUTPUT_FILE", folder_.at("test.xml")},
                               {"TEST_UNDECLARED_OUTPUTS_DIR", folder_.path().generic_string()},
                               {"TESTBRIDGE_TEST_ONLY", "many/sweep*"}};
        const ProgramResult result = run_program(
            {examples() + "/bazel/conformance_test.sh", dmlconform_path(), folder_.at("cases"), "--engine=cpu"},
            options);
        EXPECT_TRUE(ends_with_code(result, 0));
        EXPECT_TRUE(std::filesystem::remove(folder_.at("status")));
        EXPECT_TRUE(std::filesystem::remove(folder_.at("test.xml")));
        results += read(folder_.at("result.json"))["results"].size();
    }
    EXPECT_EQ(results, 200u);
}

TEST_F(Shards, TheSlurmExample) {
    ProgramOptions options;
    for (int i = 0; i < 3; ++i) {
        options.environment = {{"SLURM_ARRAY_TASK_ID", std::to_string(i)},
                               {"SLURM_ARRAY_TASK_COUNT", "3"},
                               {"SLURM_ARRAY_TASK_MIN", "0"},
                               {"SLURM_ARRAY_TASK_MAX", "2"},
                               {"SLURM_ARRAY_TASK_STEP", "1"},
                               {"DMLCONFORM", dmlconform_path()},
                               {"RESULTS", folder_.at("results")}};
        EXPECT_TRUE(ends_with_code(
            run_program({examples() + "/slurm/shard.sbatch", folder_.at("cases"), "--engine", "cpu"}, options), 0));
    }
    const std::string whole = folder_.at("whole.json");
    run({"--json", whole});
    EXPECT_TRUE(ends_with_code(run_program({examples() + "/slurm/merge.sbatch"}, options), 1));
    EXPECT_EQ(timeless(read(folder_.at("results/result.json"))), timeless(read(whole)));
    EXPECT_TRUE(std::filesystem::exists(folder_.at("results/junit.xml")));
}

TEST_F(Shards, TheOptionCountsBeforeTheEnvironment) {
    const Variables bazel{{"TEST_TOTAL_SHARDS", "3"}, {"TEST_SHARD_INDEX", "1"}, {"TESTBRIDGE_TEST_ONLY", "bad/*"}};
    const ProgramResult result = run({"--shard", "1/1", "--filter", "bad/good"}, bazel);
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(
        complains(result, "--shard 1/1 counts, not the environment's TEST_SHARD_INDEX=1 and TEST_TOTAL_SHARDS=3"));
    EXPECT_TRUE(complains(result, "--filter counts, not the environment's TESTBRIDGE_TEST_ONLY"));
    EXPECT_TRUE(prints(result, "1 result in "));
}

TEST_F(Shards, WrongWishes) {
    const std::vector<std::pair<std::vector<std::string>, Variables>> wrong = {
        {{"--shard", "8/7"}, {}},
        {{"--shard", "one"}, {}},
        {{"--durations", folder_.at("none.json")}, {}},
        {{"--shard", "1/2", "--durations", folder_.at("none.json")}, {}},
        {{}, {{"TEST_TOTAL_SHARDS", "3"}, {"TEST_SHARD_INDEX", "3"}}},
        {{}, {{"TEST_TOTAL_SHARDS", "3"}}},
        {{}, {{"GTEST_FILTER", "-bad/*"}}},
        {{},
         {{"TEST_TOTAL_SHARDS", "3"},
          {"TEST_SHARD_INDEX", "1"},
          {"TEST_SHARD_STATUS_FILE", folder_.at("no/such/folder")}}},
    };
    for (const auto& [words, environment] : wrong) {
        const ProgramResult result = run(words, environment);
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_NE(result.errors, "");
        EXPECT_EQ(result.output, "");
    }
}

}  // namespace
}  // namespace dmlconform::tests::shard_test
