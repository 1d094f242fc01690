// Tests of shards: the options and environment variables that choose one, and how cases are divided.
#include "engine/run/shard.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace dmlconform::run::shard_test {
namespace {

using Variables = std::map<std::string, std::string>;

core::Result<std::optional<ShardOfEnvironment>> shard_in(const Variables& variables) {
    return shard_of_environment([&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

TEST(Shard, AsPeopleWriteIt) {
    const std::pair<const char*, Shard> good[] = {{"1/1", {0, 1}}, {"1/7", {0, 7}}, {"7/7", {6, 7}}};
    for (const auto& [text, shard] : good) {
        ASSERT_TRUE(parse_shard(text)) << text;
        EXPECT_EQ(*parse_shard(text), shard) << text;
        EXPECT_EQ(to_string(shard), text);
    }
    for (const char* text : {"", "/", "1", "0/7", "8/7", "1/0", "-1/7", "1/-7", "a/7", "1/7/", "1//7", " 1/7", "1/7 ",
                             "1/99999999999999999999", "1/10000000"}) {
        EXPECT_FALSE(parse_shard(text)) << text;
    }
}

TEST(Shard, OfTheEnvironment) {
    const std::pair<Variables, std::optional<Shard>> cases[] = {
        {{}, std::nullopt},
        {{{"TEST_TOTAL_SHARDS", "7"}, {"TEST_SHARD_INDEX", "0"}}, Shard{0, 7}},
        {{{"TEST_TOTAL_SHARDS", "0"}, {"TEST_SHARD_INDEX", "0"}}, std::nullopt},
        {{{"GTEST_TOTAL_SHARDS", "7"}, {"GTEST_SHARD_INDEX", "6"}}, Shard{6, 7}},
        {{{"TEST_TOTAL_SHARDS", "7"},
          {"TEST_SHARD_INDEX", "6"},
          {"GTEST_TOTAL_SHARDS", "7"},
          {"GTEST_SHARD_INDEX", "6"}},
         Shard{6, 7}},
        {{{"SLURM_ARRAY_TASK_ID", "6"}, {"SLURM_ARRAY_TASK_COUNT", "7"}}, Shard{6, 7}},
        {{{"SLURM_ARRAY_TASK_ID", "7"},
          {"SLURM_ARRAY_TASK_COUNT", "7"},
          {"SLURM_ARRAY_TASK_MIN", "1"},
          {"SLURM_ARRAY_TASK_MAX", "7"}},
         Shard{6, 7}},
        // sbatch --array=10-30:10
        {{{"SLURM_ARRAY_TASK_ID", "20"},
          {"SLURM_ARRAY_TASK_COUNT", "3"},
          {"SLURM_ARRAY_TASK_MIN", "10"},
          {"SLURM_ARRAY_TASK_MAX", "30"},
          {"SLURM_ARRAY_TASK_STEP", "10"}},
         Shard{1, 3}},
        {{{"SLURM_JOB_ID", "5"}}, std::nullopt},
    };
    for (const auto& [variables, shard] : cases) {
        const auto found = shard_in(variables);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_EQ(found->has_value(), shard.has_value());
        if (shard && *found) {
            EXPECT_EQ((*found)->shard, *shard);
        }
    }
    EXPECT_EQ((*shard_in({{"TEST_TOTAL_SHARDS", "2"}, {"TEST_SHARD_INDEX", "1"}, {"TEST_SHARD_STATUS_FILE", "x"}}))
                  ->status_file,
              "x");
}

TEST(Shard, WhatTheEnvironmentCannotMean) {
    const Variables cases[] = {
        {{"TEST_TOTAL_SHARDS", "7"}},
        {{"TEST_SHARD_INDEX", "0"}},
        {{"TEST_TOTAL_SHARDS", "7"}, {"TEST_SHARD_INDEX", "7"}},
        {{"TEST_TOTAL_SHARDS", "7"}, {"TEST_SHARD_INDEX", "-1"}},
        {{"TEST_TOTAL_SHARDS", "seven"}, {"TEST_SHARD_INDEX", "0"}},
        {{"TEST_TOTAL_SHARDS", ""}, {"TEST_SHARD_INDEX", ""}},
        {{"GTEST_TOTAL_SHARDS", "7"}},
        {{"TEST_TOTAL_SHARDS", "7"},
         {"TEST_SHARD_INDEX", "1"},
         {"GTEST_TOTAL_SHARDS", "7"},
         {"GTEST_SHARD_INDEX", "2"}},
        {{"SLURM_ARRAY_TASK_ID", "0"}},
        {{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "0"}},
        {{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_COUNT", "7"}},
        {{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_COUNT", "7"}, {"SLURM_ARRAY_TASK_STEP", "0"}},
        {{"SLURM_ARRAY_TASK_ID", "5"},
         {"SLURM_ARRAY_TASK_COUNT", "3"},
         {"SLURM_ARRAY_TASK_MIN", "0"},
         {"SLURM_ARRAY_TASK_STEP", "2"}},
        // An index that sbatch --array=10-30:10 does not contain.
        {{"SLURM_ARRAY_TASK_ID", "11"},
         {"SLURM_ARRAY_TASK_COUNT", "3"},
         {"SLURM_ARRAY_TASK_MIN", "10"},
         {"SLURM_ARRAY_TASK_MAX", "30"},
         {"SLURM_ARRAY_TASK_STEP", "10"}},
        // sbatch --array=1,3,7
        {{"SLURM_ARRAY_TASK_ID", "3"},
         {"SLURM_ARRAY_TASK_COUNT", "3"},
         {"SLURM_ARRAY_TASK_MIN", "1"},
         {"SLURM_ARRAY_TASK_MAX", "7"}},
    };
    for (const Variables& variables : cases) {
        EXPECT_FALSE(shard_in(variables)) << variables.begin()->first << " " << variables.begin()->second;
    }
}

std::vector<std::uint64_t> ids(std::size_t count) {
    std::vector<std::uint64_t> list;
    for (std::size_t i = 0; i < count; ++i) {
        list.push_back(id_hash(fmt::format("file/case[i={}]", i)));
    }
    return list;
}

TEST(ShardPlan, IsAPartition) {
    const auto cases = ids(1000);
    CaseDurations durations;
    for (std::size_t i = 0; i < cases.size(); i += 2) {
        durations[cases[i]] = static_cast<double>(i % 7);
    }
    for (const std::size_t count : {1u, 2u, 7u, 1500u}) {
        for (const bool timed : {false, true}) {
            std::vector<std::size_t> sizes(count, 0);
            for (const std::uint64_t id : cases) {
                std::size_t owners = 0;
                for (std::size_t i = 0; i < count; ++i) {
                    const bool owned = timed ? false : ShardPlan({i, count}).contains(id);
                    owners += owned ? 1 : 0;
                    sizes[i] += owned ? 1 : 0;
                }
                EXPECT_TRUE(timed || owners == 1);
            }
            if (timed) {
                std::size_t total = 0;
                for (std::size_t i = 0; i < count && count <= 7; ++i) {
                    const ShardPlan plan({i, count}, cases, durations);
                    total += static_cast<std::size_t>(
                        std::count_if(cases.begin(), cases.end(), [&](std::uint64_t id) { return plan.contains(id); }));
                }
                EXPECT_TRUE(count > 7 || total == cases.size());
            } else if (count == 7) {
                EXPECT_GT(*std::min_element(sizes.begin(), sizes.end()), 100u);
                EXPECT_LT(*std::max_element(sizes.begin(), sizes.end()), 190u);
            }
        }
    }
}

TEST(ShardPlan, ByIdANewCaseMovesNoOther) {
    // These numbers must not change, so that other machines and versions divide cases in the same way.
    EXPECT_EQ(id_hash(""), 17665956581633026203u);
    EXPECT_EQ(id_hash("a/b"), 8831782500897897773u);
}

TEST(ShardPlan, ByDurationsShardsTakeEquallyLong) {
    const auto cases = ids(100);
    CaseDurations durations;
    double sum = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        durations[cases[i]] = i == 0 ? 50 : 1 + static_cast<double>(i % 3);
        sum += durations[cases[i]];
    }
    for (std::size_t i = 0; i < 4; ++i) {
        const ShardPlan plan({i, 4}, cases, durations);
        double load = 0;
        for (const std::uint64_t id : cases) {
            load += plan.contains(id) ? durations[id] : 0;
        }
        EXPECT_NEAR(load, sum / 4, 3);
    }
    // Cases that take no time are divided evenly, too.
    CaseDurations none;
    for (const std::uint64_t id : cases) {
        none[id] = 0;
    }
    const ShardPlan plan({1, 4}, cases, none);
    EXPECT_EQ(std::count_if(cases.begin(), cases.end(), [&](std::uint64_t id) { return plan.contains(id); }), 25);
}

TEST(ShardPlan, CasesWithoutATimeCountAsTheMiddleOne) {
    const auto cases = ids(6);
    const CaseDurations durations{{cases[0], 300}, {cases[1], 100}, {cases[2], 100}};
    const ShardPlan plan({0, 2}, cases, durations);
    const auto first = std::count_if(cases.begin(), cases.end(), [&](std::uint64_t id) { return plan.contains(id); });
    EXPECT_EQ(std::min(first, 6 - first), 2) << "300 and 100, and four of 100";
}

TEST(ShardPlan, FingerprintsTellCasesApart) {
    auto cases = ids(10);
    const std::uint64_t all = fingerprint_of(cases);
    std::swap(cases[0], cases[5]);
    EXPECT_EQ(fingerprint_of(cases), all);
    cases.pop_back();
    EXPECT_NE(fingerprint_of(cases), all);
    EXPECT_NE(fingerprint_of(ids(11)), all);
}

}  // namespace
}  // namespace dmlconform::run::shard_test
