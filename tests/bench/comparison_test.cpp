// Tests of engine/bench/comparison: which differences are slowdowns and which are noise.
#include "engine/bench/comparison.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace dmlconform::bench::comparison_test {
namespace {

/// Ten numbers around a time, at most `scatter` apart, in an arbitrary order.
std::vector<double> around(double seconds, double scatter) {
    std::vector<double> times;
    for (const double step : {0.1, -0.9, 0.5, -0.3, 1.0, -0.6, 0.0, 0.7, -0.1, 0.3}) {
        times.push_back(seconds * (1 + scatter * step));
    }
    return times;
}

/// Benchmarks of which each number was measured by a process of its own.
BenchmarkFile file_of(const std::map<std::string, std::vector<double>>& benchmarks) {
    BenchmarkFile file;
    for (const auto& [name, times] : benchmarks) {
        BenchmarkTimes& entry = file.benchmarks[name];
        entry.seconds = times;
        for (std::size_t i = 0; i < times.size(); ++i) {
            entry.processes[static_cast<std::int64_t>(i)].seconds = {times[i]};
        }
    }
    return file;
}

/// The benchmark "a", measured by one process.
BenchmarkFile one_process(const std::vector<double>& times) {
    BenchmarkFile file;
    file.benchmarks["a"].seconds = times;
    file.benchmarks["a"].processes[0].seconds = times;
    return file;
}

Change change_between(const std::vector<double>& base, const std::vector<double>& now, double threshold = 0.05) {
    return compare_runs(file_of({{"a", base}}), file_of({{"a", now}}), {.threshold = threshold})
        .benchmarks.at(0)
        .change;
}

TEST(CompareRuns, Verdicts) {
    const auto base = around(1e-3, 0.01);
    EXPECT_EQ(change_between(base, base), Change::none);
    EXPECT_EQ(change_between(base, around(1.1e-3, 0.01)), Change::slower);
    EXPECT_EQ(change_between(base, around(0.9e-3, 0.01)), Change::faster);
    EXPECT_EQ(change_between(base, around(1.04e-3, 0.001)), Change::none) << "significant, but within the threshold";
    EXPECT_EQ(change_between(base, around(1.04e-3, 0.001), 0.03), Change::slower);
    EXPECT_EQ(change_between(base, around(1.1e-3, 0.5)), Change::unreliable) << "scatters more than it differs";
    EXPECT_EQ(change_between(around(1e-3, 0.5), around(1.1e-3, 0.01)), Change::unreliable);
    EXPECT_EQ(change_between(around(1e-3, 0.2), around(10e-3, 0.2)), Change::slower) << "scattered, but far apart";
    EXPECT_EQ(change_between(base, around(0.943e-3, 0.001)), Change::faster) << "the base is 6 % slower";
    EXPECT_EQ(change_between(base, around(0.951e-3, 0.001)), Change::unreliable) << "5.2 %, or perhaps less than 5 %";
    EXPECT_EQ(change_between(base, around(1.053e-3, 0.001)), Change::unreliable);
}

TEST(CompareRuns, CountsProcessesAndNotRepetitions) {
    const auto verdict = [](const BenchmarkFile& base, const BenchmarkFile& now) {
        return compare_runs(base, now, {}).benchmarks.at(0);
    };
    const auto single = verdict(one_process(around(1, 0.01)), one_process(around(3, 0.01)));
    EXPECT_EQ(single.change, Change::too_few) << "whatever disturbed the one process disturbed all ten repetitions";
    EXPECT_EQ(single.base_count, 1u);
    EXPECT_EQ(verdict(one_process({1}), one_process({3})).change, Change::too_few);
    EXPECT_EQ(change_between({1, 1.01}, {3, 3.01}), Change::too_few);
    // Six of each side: the most uneven mixture of ranks has a probability of 2 in 924, and 7 of 2 in 3432.
    EXPECT_EQ(processes_needed(1, 0.001), 7u);
    EXPECT_EQ(processes_needed(1, 0.05), 4u);
    EXPECT_EQ(processes_needed(90, 0.001), 10u);
    EXPECT_EQ(processes_needed(93, 0.001), 11u) << "2 in 184756, times 93";
    EXPECT_EQ(pairs_needed(1, 0.001), 8u) << "twice 2 in 12870";
    EXPECT_EQ(pairs_needed(46, 0.001), 10u) << "twice 2 in 184756, times 46";
    EXPECT_EQ(pairs_needed(47, 0.001), 11u);
}

TEST(CompareRuns, CorrectsForTheNumberOfBenchmarks) {
    // Seven processes are enough for one benchmark, and not for ten.
    std::map<std::string, std::vector<double>> base;
    std::map<std::string, std::vector<double>> now;
    for (int i = 0; i < 10; ++i) {
        const std::vector<double> level{1, 1.011, 1.022, 0.993, 0.984, 1.005, 1.016};
        base["b" + std::to_string(i)] = level;
        now["b" + std::to_string(i)] = level;
    }
    for (double& time : now["b0"]) {
        time *= 1.2;
    }
    const auto all = compare_runs(file_of(base), file_of(now), {.significance = 0.001});
    EXPECT_EQ(all.benchmarks.at(0).name, "b0");
    const auto alone =
        compare_runs(file_of({{"b0", base["b0"]}}), file_of({{"b0", now["b0"]}}), {.significance = 0.001});
    EXPECT_EQ(alone.benchmarks.at(0).change, Change::slower);
    EXPECT_NEAR(alone.benchmarks.at(0).p, 2.0 / 3432, 1e-12);
}

/// With three processes of each side, ranks can say nothing, but other benchmarks tell how much processes differ.
TEST(CompareRuns, LearnsTheScatterFromOtherBenchmarks) {
    const auto compared = [](double scatter) {
        std::map<std::string, std::vector<double>> base;
        std::map<std::string, std::vector<double>> now;
        for (int i = 0; i < 4; ++i) {
            const std::vector<double> level{1 - scatter, 1, 1 + scatter};
            base["b" + std::to_string(i)] = level;
            now["b" + std::to_string(i)] = level;
        }
        for (double& time : now["b0"]) {
            time *= 1.2;
        }
        return compare_runs(file_of(base), file_of(now), {}).benchmarks.at(0).change;
    };
    EXPECT_EQ(compared(0.01), Change::slower);
    EXPECT_EQ(compared(0.1), Change::unreliable);
    EXPECT_EQ(change_between({0.99, 1, 1.01}, {1.19, 1.2, 1.21}), Change::too_few) << "one benchmark tells too little";
}

TEST(CompareRuns, LearnsTheScatterFromAHistory) {
    const auto compared = [](const std::vector<double>& base, const std::vector<double>& now, double deviation,
                             std::size_t freedom) {
        ComparisonSettings settings;
        settings.learned["a"] = {deviation, freedom};
        return compare_runs(file_of({{"a", base}}), file_of({{"a", now}}), settings).benchmarks.at(0).change;
    };
    EXPECT_EQ(compared({1}, {1.2}, 0.01, 20), Change::slower) << "single processes";
    EXPECT_EQ(compared({1}, {1.2}, 0.1, 20), Change::unreliable);
    EXPECT_EQ(compared({1}, {1.2}, 0.01, 3), Change::too_few) << "a history that is too short to tell";
    EXPECT_EQ(compared(around(1, 0.01), around(1.2, 0.01), 0.1, 20), Change::unreliable)
        << "processes that agree, but results that usually do not";
}

/// The machine is slower in the second half of what both measured, and the yardstick shows it.
TEST(CompareRuns, BlamesTheMachineWhereItsSpeedChanged) {
    const auto file = [](double seconds, double yardstick, double waited) {
        BenchmarkFile made = file_of({{"a", around(seconds, 0.01)}});
        for (auto& [number, process] : made.benchmarks["a"].processes) {
            process.yardstick = {yardstick};
            process.waited = {waited};
        }
        return made;
    };
    const auto compared = [](const BenchmarkFile& base, const BenchmarkFile& now) {
        return compare_runs(base, now, {}).benchmarks.at(0);
    };
    EXPECT_EQ(compared(file(1, 1, 0), file(1.2, 1, 0)).change, Change::slower);
    const auto slow_machine = compared(file(1, 1, 0), file(1.2, 1.3, 0));
    EXPECT_EQ(slow_machine.change, Change::unreliable);
    EXPECT_EQ(slow_machine.doubt, Doubt::conditions);
    EXPECT_NEAR(slow_machine.conditions, 1.3, 1e-12);
    EXPECT_EQ(compared(file(1, 1, 0), file(1.2, 1, 0.2)).doubt, Doubt::conditions) << "it waited for processors";
    EXPECT_EQ(compared(file(1, 1, 0), file(2, 1.3, 0)).change, Change::slower) << "by more than that explains";
    EXPECT_EQ(compared(file(1, 1.3, 0.2), file(1.2, 1.3, 0.2)).change, Change::slower) << "equally bad for both";
}

/// Disturbances only lengthen processor time.
TEST(CompareRuns, TakesTheFastestRepetitionOfProcessorTimes) {
    const auto file = [](const std::string& name, double seconds) {
        BenchmarkFile made = file_of({{name, around(seconds, 0.01)}});
        for (auto& [number, process] : made.benchmarks[name].processes) {
            const double time = process.seconds.front();
            // Two of three repetitions of every second process are disturbed.
            const double disturbed = number % 2 == 0 ? 1.3 * time : time;
            process.seconds = {disturbed, time, disturbed};
        }
        return made;
    };
    const auto compared = [&](const std::string& name) {
        return compare_runs(file(name, 1), file(name, 1.1), {}).benchmarks.at(0);
    };
    EXPECT_EQ(compared("a/process_time/manual_time").change, Change::slower);
    EXPECT_NEAR(compared("a/process_time/manual_time").ratio, 1.1, 1e-9);
    EXPECT_EQ(compared("a/real_time").change, Change::unreliable);
}

/// By the processor's clock, disturbances that both sides have alike are left to the ranks.
TEST(CompareRuns, ComparesTheUsualConditionsOfProcessorTimes) {
    const auto file = [](const std::string& name, double seconds, double usual_yardstick) {
        BenchmarkFile made = file_of({{name, around(seconds, 0.01)}});
        for (auto& [number, process] : made.benchmarks[name].processes) {
            process.yardstick = {usual_yardstick * (number % 3 == 0 ? 1.3 : 1)};
        }
        return made;
    };
    const auto change = [&](const std::string& name, double usual_yardstick) {
        return compare_runs(file(name, 1, 1), file(name, 1.1, usual_yardstick), {}).benchmarks.at(0).change;
    };
    const std::string by_processor = "a/process_time/manual_time";
    EXPECT_EQ(change(by_processor, 1), Change::slower);
    EXPECT_EQ(change(by_processor, 1.05), Change::slower) << "the machine explains 5 of 10 %";
    EXPECT_EQ(change(by_processor, 1.12), Change::unreliable);
    EXPECT_EQ(change("a/real_time", 1), Change::unreliable) << "some processes were disturbed";
}

/// The threads that "a" starts wait, too, but only the wait of the calling thread is known. "b" has one thread.
TEST(CompareRuns, BelievesNoWallClockOfABusyMachine) {
    const auto file = [](double seconds, double waited) {
        BenchmarkFile made = file_of({{"a", around(seconds, 0.01)}, {"b", around(1, 0.01)}});
        for (auto& [number, process] : made.benchmarks["a"].processes) {
            process.waited = {0.01};
            made.benchmarks["b"].processes[number].waited = {waited};
        }
        return made;
    };
    const auto compared = [](const BenchmarkFile& base, const BenchmarkFile& now) {
        return compare_runs(base, now, {}).benchmarks.at(0);
    };
    const auto busy = compared(file(1, 0.1), file(8, 0.6));
    EXPECT_EQ(busy.name, "a");
    EXPECT_EQ(busy.change, Change::unreliable);
    EXPECT_EQ(busy.doubt, Doubt::busy);
    EXPECT_NEAR(busy.waited, 0.6, 1e-12);
    EXPECT_EQ(compared(file(1, 0.6), file(1, 0.6)).change, Change::none);
    EXPECT_EQ(compared(file(1, 0.1), file(8, 0.1)).change, Change::slower);
    // Waiting does not lengthen what is timed by processor time.
    BenchmarkFile base = file(1, 0.6);
    BenchmarkFile now = file(8, 0.6);
    for (BenchmarkFile* side : {&base, &now}) {
        for (auto& [number, process] : side->benchmarks["a"].processes) {
            process.waited.clear();
        }
    }
    EXPECT_EQ(compared(base, now).change, Change::slower);
}

/// Adds a node to the graph "a", measured by the same processes.
void add_node(BenchmarkFile& file, const std::string& node, const std::vector<double>& times) {
    auto& processes = file.benchmarks.at("a").processes;
    for (std::size_t i = 0; i < times.size(); ++i) {
        processes.at(static_cast<std::int64_t>(i)).nodes[node] = {times[i]};
    }
}

TEST(CompareRuns, SaysWhichNodesOfAGraphBecameSlower) {
    BenchmarkFile base = file_of({{"a", around(10e-3, 0.01)}});
    BenchmarkFile now = file_of({{"a", around(12e-3, 0.01)}});
    for (BenchmarkFile* file : {&base, &now}) {
        add_node(*file, "conv", around(file == &base ? 6e-3 : 8e-3, 0.01));
        add_node(*file, "relu", around(1e-3, 0.01));
        add_node(*file, file == &base ? "gone" : "new", {1});
    }
    const RunComparison compared = compare_runs(base, now, {});
    const auto& nodes = compared.benchmarks.at(0).nodes;
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes[0].name, "conv");
    EXPECT_EQ(nodes[0].change, Change::slower);
    EXPECT_NEAR(nodes[0].ratio, 8.0 / 6, 1e-9);
    EXPECT_EQ(nodes[1].name, "relu");
    EXPECT_EQ(nodes[1].change, Change::none);
}

TEST(CompareRuns, WhatDidNotSettleIsNotCompared) {
    const auto base = file_of({{"a", around(1, 0.01)}});
    const auto slower = file_of({{"a", around(2, 0.01)}});
    BenchmarkFile drifting = slower;
    for (auto& [number, process] : drifting.benchmarks["a"].processes) {
        process.unsettled = true;
    }
    const auto change = [](const std::vector<BenchmarkFile>& before, const std::vector<BenchmarkFile>& after) {
        return compare_runs(before, after, {}).benchmarks.at(0).change;
    };
    EXPECT_EQ(change({base}, {slower}), Change::slower);
    EXPECT_EQ(change({base}, {drifting}), Change::unreliable);
    EXPECT_EQ(change({drifting}, {base}), Change::unreliable);
    EXPECT_EQ(change({drifting}, {drifting}), Change::unreliable) << "even if nothing differs";
    EXPECT_EQ(change({base}, {drifting, base, drifting}), Change::none) << "processes in which it settled are enough";
}

/// Files of one process each, whose repetitions scatter by 1 % around these times.
std::vector<BenchmarkFile> runs_around(const std::vector<double>& times) {
    std::vector<BenchmarkFile> runs;
    for (const double time : times) {
        runs.push_back(one_process(around(time, 0.01)));
    }
    return runs;
}

TEST(CompareRuns, SeveralFilesAreSeveralProcesses) {
    const std::vector<double> calm{1, 1.01, 0.99, 1, 1.02, 0.995, 1.005};
    const auto change = [&](const std::vector<double>& now) {
        return compare_runs(runs_around(calm), runs_around(now), {}).benchmarks.at(0).change;
    };
    EXPECT_EQ(change({1, 1.02, 1.01, 0.99, 1, 1.005, 0.995}), Change::none);
    EXPECT_EQ(change({1.1, 1.11, 1.09, 1.1, 1.12, 1.095, 1.105}), Change::slower);
    EXPECT_EQ(change({1, 1.01, 1.3, 1, 1.02, 0.995, 1.005}), Change::none) << "one disturbed process";
    EXPECT_EQ(change({1, 1.08, 1.09, 1.1, 0.99, 1.07, 1}), Change::unreliable)
        << "processes that disagree, though each is calm";
    EXPECT_EQ(change({1.2}), Change::too_few);
}

TEST(CompareRuns, PairsForgetWhatDisturbedBoth) {
    // A machine that is up to 1.5 times as slow now and then, for longer than one pair of runs.
    const std::vector<double> moods{1, 1, 1.5, 1.5, 1.5, 1, 1.3, 1.2, 1, 1.5, 1, 1.4};
    const auto compared = [&](const std::vector<double>& factors, bool paired = true) {
        std::vector<double> now;
        for (std::size_t i = 0; i < moods.size(); ++i) {
            now.push_back(moods[i] * factors[i]);
        }
        return compare_runs(runs_around(moods), runs_around(now), {.paired = paired}).benchmarks.at(0);
    };
    const std::vector<double> slower{1.1, 1.09, 1.11, 1.1, 1.08, 1.12, 1.1, 1.1, 1.09, 1.11, 1.1, 1.1};
    EXPECT_EQ(compared(slower).change, Change::slower);
    EXPECT_NEAR(compared(slower).ratio, 1.1, 1e-12);
    EXPECT_LT(compared(slower).spread, 0.01);
    EXPECT_EQ(compared(slower, false).change, Change::unreliable) << "what pairs are for";
    EXPECT_EQ(compared({1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 0.99, 1, 1, 1, 1}).change, Change::none);
    EXPECT_EQ(compared({1.6, 1.6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}).change, Change::none) << "two disturbed runs";
    EXPECT_EQ(compared({1.3, 0.8, 1.4, 0.9, 1.1, 1.3, 1, 0.8, 1.5, 1.1, 1.2, 1.3}).change, Change::unreliable);
    // Always slower than the threshold, but by widely different factors.
    EXPECT_EQ(compared({1.01, 1.01, 1.02, 1.02, 1.03, 1.05, 1.4, 1.6, 1.8, 2, 2.2, 2.3}).change, Change::unreliable);
}

TEST(CompareRuns, PairsNeedTheBenchmarkInBoth) {
    const BenchmarkFile both = file_of({{"a", {1}}, {"b", {1}}});
    const BenchmarkFile one = file_of({{"a", {1}}});
    const auto comparison =
        compare_runs(std::vector<BenchmarkFile>{both, one, one, one, one, one},
                     std::vector<BenchmarkFile>{one, both, both, both, both, both}, {.paired = true});
    ASSERT_EQ(comparison.benchmarks.size(), 2u);
    EXPECT_EQ(comparison.benchmarks[0].p, 1);
    EXPECT_TRUE(comparison.missing.empty());
}

TEST(CompareRuns, OrderAndNames) {
    const auto comparison = compare_runs(
        file_of({{"same", around(1, 0.01)}, {"slower", around(1, 0.01)}, {"gone", {1}}, {"faster", around(1, 0.01)}}),
        file_of({{"same", around(1, 0.01)}, {"slower", around(2, 0.01)}, {"new", {1}}, {"faster", around(0.5, 0.01)}}),
        {});
    ASSERT_EQ(comparison.benchmarks.size(), 3u);
    EXPECT_EQ(comparison.benchmarks[0].name, "slower");
    EXPECT_NEAR(comparison.benchmarks[0].ratio, 2, 1e-12);
    EXPECT_EQ(comparison.benchmarks[1].name, "same");
    EXPECT_EQ(comparison.benchmarks[2].name, "faster");
    EXPECT_EQ(comparison.missing, std::vector<std::string>{"gone"});
    EXPECT_EQ(comparison.added, std::vector<std::string>{"new"});
    EXPECT_TRUE(comparison.regressed());
    EXPECT_TRUE(comparison.differences.empty());
}

TEST(CompareRuns, NamesDifferentMachines) {
    BenchmarkFile base = file_of({{"a", {1}}});
    BenchmarkFile now = base;
    base.context = {{"dmlconform.machine", "M"}, {"dmlconform.d3d12.adapter", "X"}, {"host_name", "a"}, {"date", "1"}};
    now.context = base.context;
    now.context["host_name"] = "b";
    now.context["date"] = "2";
    EXPECT_TRUE(compare_runs(base, now, {}).differences.empty()) << "containers have names of their own";
    base.context["dmlconform.d3d12.driver"] = "1";
    now.context["dmlconform.d3d12.driver"] = "2";
    EXPECT_EQ(compare_runs(base, now, {}).differences, std::vector<std::string>{"dmlconform.d3d12.driver: 1 and 2"});
    now.context["dmlconform.d3d12.driver"] = "1";
    now.context["dmlconform.d3d12.adapter"] = "Y";
    now.context["dmlconform.machine"] = "N";
    EXPECT_EQ(compare_runs(base, now, {}).differences,
              (std::vector<std::string>{"dmlconform.d3d12.adapter: X and Y", "dmlconform.machine: M and N"}));
}

TEST(CompareRuns, OtherClocks) {
    BenchmarkFile base = file_of({{"a/real_time", {1}}, {"b/process_time/manual_time", {1}}});
    base.context["dmlconform.cpu.clock"] = "the processor's clock, the wall clock";
    BenchmarkFile part = file_of({{"a/real_time", {1}}});
    part.context["dmlconform.cpu.clock"] = "the wall clock";
    EXPECT_TRUE(compare_runs(base, part, {}).differences.empty()) << "a part of the benchmarks, by the same clocks";
    part.context["dmlconform.cpu.clock"] = "the device's clock";
    EXPECT_EQ(
        compare_runs(base, part, {}).differences,
        std::vector<std::string>{"dmlconform.cpu.clock: the processor's clock, the wall clock and the device's clock"});
    BenchmarkFile other = file_of({{"a/process_time/manual_time", {1}}, {"b/process_time/manual_time", {1}}});
    other.context["dmlconform.cpu.clock"] = "the processor's clock";
    EXPECT_EQ(compare_runs(base, other, {}).differences,
              std::vector<std::string>{"a: timed by the wall clock, and by the processor's clock"});
    const BenchmarkFile worker = file_of({{"b/manual_time", {1}}});
    EXPECT_EQ(
        compare_runs(base, worker, {}).differences,
        std::vector<std::string>{"b: timed by the processor's clock, and by the clock of the device or the worker"});
    // Names of other programs do not say a clock.
    EXPECT_TRUE(compare_runs(file_of({{"a", {1}}}), file_of({{"a/real_time", {1}}}), {}).differences.empty());
}

/// The first file of the base may be the one that says nothing.
TEST(CompareRuns, EveryFileIsHeldAgainstEveryOther) {
    const auto run = [](const std::string& name, const std::string& engine, const std::string& adapter,
                        const std::string& descriptor) {
        BenchmarkFile file = file_of({{name, {1}}});
        file.context = {{"dmlconform." + engine + ".adapter", adapter}};
        file.benchmarks.at(name).descriptor = descriptor;
        return file;
    };
    const BenchmarkFile cpu = run("c/real_time", "cpu", "processor", "1");
    const std::pair<BenchmarkFile, const char*> others[] = {
        {run("a/manual_time", "d3d12", "T4", "1"), "dmlconform.d3d12.adapter: A100 and T4"},
        {run("a/manual_time", "d3d12", "A100", "2"), "a/manual_time: the descriptors of that name differ"},
        {run("a/real_time", "d3d12", "A100", "1"),
         "a: timed by the clock of the device or the worker, and by the wall clock"}};
    const BenchmarkFile gpu = run("a/manual_time", "d3d12", "A100", "1");
    for (const auto& [other, difference] : others) {
        using Files = std::vector<BenchmarkFile>;
        const std::pair<Files, Files> sides[] = {{{gpu}, {other}},
                                                 {{cpu, gpu}, {cpu, other}},
                                                 {{gpu, cpu}, {other, cpu}},
                                                 {{gpu, other}, {cpu}},
                                                 {{cpu}, {gpu, other}}};
        for (const auto& [base, now] : sides) {
            EXPECT_EQ(compare_runs(base, now, {}).differences, std::vector<std::string>{difference});
        }
        EXPECT_TRUE(compare_runs(Files{cpu, gpu}, Files{gpu, cpu}, {}).differences.empty());
    }
}

/// A file may have a benchmark by two clocks. Then it fits one that has it by either of them.
TEST(CompareRuns, OneClockInCommonIsEnough) {
    const BenchmarkFile both = file_of({{"a/real_time", {1}}, {"a/manual_time", {1}}});
    const BenchmarkFile one = file_of({{"a/real_time", {1}}});
    EXPECT_TRUE(compare_runs(both, one, {}).differences.empty());
    EXPECT_TRUE(compare_runs(one, both, {}).differences.empty());
}

}  // namespace
}  // namespace dmlconform::bench::comparison_test
