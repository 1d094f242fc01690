// Tests of the options that end a run early or repeat a case: --max-failures, --deadline, --retries, --max-hangs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/changed_worker.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::budget_of_run_test {
namespace {

using nlohmann::json;

class BudgetOfRun : public testing::Test {
protected:
    /// A file with `count` SLICE1 cases, all with these expected values.
    std::string slices(int count, std::string_view values) const {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += (i == 0 ? "" : ",\n") + slice_case(std::to_string(i), values);
        }
        return folder_.write("slices.json", "{ \"cases\": [\n" + text + "\n] }\n");
    }

    json results() const { return json::parse(content_of(folder_.at("r.json")))["results"]; }

    TemporaryFolder folder_;
};

TEST_F(BudgetOfRun, EndsWithSoManyFailures) {
    const std::string file = slices(6, wrong_values);
    for (const char* option : {"--max-failures", "--maxfail"}) {
        for (const int count : {1, 2, 6, 7}) {
            const ProgramResult result = dmlconform(
                {"run", file, "--engine", "cpu", option, std::to_string(count), "--json", folder_.at("r.json")});
            EXPECT_TRUE(ends_with_code(result, 1));
            EXPECT_EQ(results().size(), static_cast<std::size_t>(std::min(count, 6)));
        }
    }
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file, "--max-failures", "0"}), 2));
}

TEST_F(BudgetOfRun, ADeadlineThatPassesIsNoSuccess) {
    const std::string file = slices(4, right_values);
    const std::string slow = changed_worker(folder_, R"(import time
right = worker.slice1
def slice1(desc, data, output):
    right(desc, data, output)
    time.sleep(0.6)
worker.slice1 = slice1)");
    const ProgramResult late =
        dmlconform({"run", file, "--engine", slow, "--deadline", "0.9", "--json", folder_.at("r.json")});
    EXPECT_TRUE(ends_with_code(late, 1));
    EXPECT_EQ(results().size(), 2u);
    EXPECT_TRUE(complains(late, "dmlconform: the deadline of 0.9 s has passed; 2 of 4 cases were run\n"));
    const ProgramResult in_time = dmlconform({"run", file, "--engine", "cpu", "--deadline", "100"});
    EXPECT_TRUE(ends_with_code(in_time, 0));
    EXPECT_EQ(in_time.errors, "");
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file, "--engine", "cpu", "--deadline", "0"}), 1));
}

TEST_F(BudgetOfRun, RetriesNeedNoExpectations) {
    const std::string file = slices(1, right_values);
    // A worker that answers correctly at the third attempt.
    const std::string flaking = changed_worker(folder_, R"(right = worker.slice1
calls = []
def slice1(desc, data, output):
    calls.append(1)
    if len(calls) % 3 == 0:
        right(desc, data, output)
    else:
        output[0:8] = b"\0\0\0\x41" * 2
worker.slice1 = slice1)");
    for (const auto& [retries, status, exit_code] :
         {std::tuple("1", "fail", 1), std::tuple("2", "flake", 0), std::tuple("5", "flake", 0)}) {
        const ProgramResult result =
            dmlconform({"run", file, "--engine", flaking, "--retries", retries, "--json", folder_.at("r.json")});
        EXPECT_TRUE(ends_with_code(result, exit_code));
        EXPECT_EQ(results()[0]["status"], status);
        EXPECT_EQ(results()[0]["attempts"], std::string(retries) == "1" ? 2 : 3);
    }
    EXPECT_TRUE(ends_with_code(dmlconform({"run", file, "--engine", flaking}), 1));
}

TEST_F(BudgetOfRun, WhatHangsIsNotAskedForEver) {
    const std::string file = slices(4, right_values);
    const std::string hanging = std::string("exec:") + FAULTY_WORKER + " execute hang";
    const ProgramResult result = dmlconform({"run", file, "--engine", hanging, "--timeout", "0.3", "--max-hangs", "2",
                                             "--json", folder_.at("r.json"), "--junit", folder_.at("j.xml")});
    EXPECT_TRUE(ends_with_code(result, 1));
    const json all = results();
    ASSERT_EQ(all.size(), 4u);
    for (const std::size_t i : {0u, 1u}) {
        EXPECT_EQ(all[i]["status"], "timeout");
        EXPECT_GE(all[i]["timing"]["totalNanoseconds"].get<double>(), 0.3e9);
    }
    for (const std::size_t i : {2u, 3u}) {
        EXPECT_EQ(all[i]["status"], "error");
        EXPECT_EQ(all[i]["reason"], "it did not answer in 2 cases before, and is not asked any more (--max-hangs)");
    }
    // JUnit includes the time of cases that timed out.
    const std::string junit = content_of(folder_.at("j.xml"));
    const std::size_t at = junit.find("time=\"", junit.find("<testcase "));
    EXPECT_GE(std::stod(junit.substr(at + 6)), 0.3) << junit;
    const ProgramResult always = dmlconform(
        {"run", file, "--engine", hanging, "--timeout", "0.3", "--max-hangs", "0", "--json", folder_.at("r.json")});
    EXPECT_TRUE(ends_with_code(always, 1));
    for (const json& one : results()) {
        EXPECT_EQ(one["status"], "timeout");
    }
}

}  // namespace
}  // namespace dmlconform::tests::budget_of_run_test
