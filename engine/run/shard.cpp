// Distributes cases over shards.
#include "engine/run/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "engine/core/hash.h"
#include "engine/core/parse_number.h"

namespace dmlconform::run {
namespace {

/// A larger number is probably a mistake.
constexpr std::uint64_t most_shards = 1'000'000;

using Found = core::Result<std::optional<ShardOfEnvironment>>;

/// The variables of Bazel and GoogleTest, which differ only in their names.
struct RunnerVariables {
    const char* total;
    const char* index;
    const char* status_file;
};

Found of_test_runner(const RunnerVariables& names, const Environment& environment) {
    const auto total = environment(names.total);
    const auto index = environment(names.index);
    if (!total && !index) {
        return std::nullopt;
    }
    if (!total || !index) {
        return core::fail(fmt::format("{} is set, but {} is not", total ? names.total : names.index,
                                      total ? names.index : names.total),
                          "--shard I/N counts instead of the environment");
    }
    const std::uint64_t count = core::parse_number<std::uint64_t>(*total).value_or(UINT64_MAX);
    const std::uint64_t which = core::parse_number<std::uint64_t>(*index).value_or(UINT64_MAX);
    if (count == 0 && which == 0) {
        return std::nullopt;  // Bazel's way to say that the test is not sharded
    }
    if (count > most_shards || which >= count) {
        return core::fail(fmt::format("{}={} and {}={} are not a shard", names.total, *total, names.index, *index),
                          "the index counts from 0 and is below the total; --shard I/N counts instead");
    }
    return ShardOfEnvironment{{static_cast<std::size_t>(which), static_cast<std::size_t>(count)},
                              fmt::format("{}={} and {}={}", names.index, *index, names.total, *total),
                              environment(names.status_file).value_or("")};
}

/// Slurm's variables for a task of a job array.
struct SlurmArray {
    /// Marks text that is not a number.
    static constexpr std::uint64_t none = UINT64_MAX;

    std::uint64_t id;
    std::uint64_t count;
    std::uint64_t least;
    std::uint64_t greatest;
    std::uint64_t step;

    explicit SlurmArray(const Environment& environment) {
        const auto value = [&](const char* name, std::uint64_t otherwise) {
            const auto text = environment(name);
            return text ? core::parse_number<std::uint64_t>(*text).value_or(none) : otherwise;
        };
        id = value("SLURM_ARRAY_TASK_ID", none);
        count = value("SLURM_ARRAY_TASK_COUNT", none);
        least = value("SLURM_ARRAY_TASK_MIN", 0);
        step = value("SLURM_ARRAY_TASK_STEP", 1);
        const bool countable = count != none && step != none && least != none && count <= most_shards && count != 0;
        greatest = value("SLURM_ARRAY_TASK_MAX", countable ? least + (count - 1) * step : none);
    }

    /// False unless ids go from MIN to MAX in equal steps; then the shard's index is unknown.
    [[nodiscard]] bool is_even() const {
        return count != 0 && count <= most_shards && step != 0 && least <= id && id <= greatest && greatest != none &&
               (id - least) % step == 0 && (greatest - least) / step == count - 1;
    }
};

Found of_slurm(const Environment& environment) {
    if (!environment("SLURM_ARRAY_TASK_ID")) {
        return std::nullopt;
    }
    const SlurmArray array(environment);
    if (!array.is_even()) {
        std::string all;
        for (const char* name : {"ID", "COUNT", "MIN", "MAX", "STEP"}) {
            if (const auto text = environment(fmt::format("SLURM_ARRAY_TASK_{}", name).c_str())) {
                all += fmt::format("{}SLURM_ARRAY_TASK_{}={}", all.empty() ? "" : ", ", name, *text);
            }
        }
        return core::fail(
            all + " is not a shard",
            "give the array evenly spaced ids, as --array=0-6, or --shard I/N; --shard 1/1 runs all cases "
            "in each task");
    }
    return ShardOfEnvironment{
        {static_cast<std::size_t>((array.id - array.least) / array.step), static_cast<std::size_t>(array.count)},
        fmt::format("SLURM_ARRAY_TASK_ID={} and SLURM_ARRAY_TASK_COUNT={}", array.id, array.count)};
}

}  // namespace

std::string to_string(const Shard& shard) {
    return fmt::format("{}/{}", shard.index + 1, shard.count);
}

core::Result<Shard> parse_shard(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::uint64_t index = core::parse_number<std::uint64_t>(text.substr(0, slash)).value_or(0);
    const std::uint64_t count =
        core::parse_number<std::uint64_t>(text.substr(std::min(slash + 1, text.size()))).value_or(0);
    if (index == 0 || count > most_shards || index > count) {
        return core::fail(fmt::format("\"{}\" is not a shard", text), "3/7 is the third of seven, 7/7 the last");
    }
    return Shard{static_cast<std::size_t>(index - 1), static_cast<std::size_t>(count)};
}

Found shard_of_environment(const Environment& environment) {
    std::optional<ShardOfEnvironment> chosen;
    for (const Found& found :
         {of_test_runner({"TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE"}, environment),
          of_test_runner({"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"}, environment),
          of_slurm(environment)}) {
        if (!found) {
            return found;
        }
        if (chosen && *found && chosen->shard != (*found)->shard) {
            return core::fail(
                fmt::format("the environment contradicts itself: {}, but {}", chosen->source, (*found)->source),
                "--shard I/N counts instead");
        }
        if (!chosen) {
            chosen = *found;
        }
    }
    return chosen;
}

std::uint64_t id_hash(std::string_view case_id) {
    return core::mixed(core::fnv1a(case_id));
}

ShardPlan::ShardPlan(Shard shard, std::span<const std::uint64_t> ids, const CaseDurations& durations) : shard_(shard) {
    std::vector<double> known;
    for (const std::uint64_t id : ids) {
        if (const auto found = durations.find(id); found != durations.end()) {
            known.push_back(found->second);
        }
    }
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
    std::nth_element(known.begin(), middle, known.end());
    const double otherwise = known.empty() ? 1 : *middle;
    std::vector<std::pair<double, std::uint64_t>> by_length;
    by_length.reserve(ids.size());
    for (const std::uint64_t id : ids) {
        const auto found = durations.find(id);
        // Never 0, otherwise all such cases would be assigned to the same shard.
        by_length.emplace_back(std::max(found == durations.end() ? otherwise : found->second, 1e-9), id);
    }
    std::sort(by_length.begin(), by_length.end(), std::greater<>());
    using Load = std::pair<double, std::uint32_t>;
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (std::uint32_t i = 0; i < shard.count; ++i) {
        loads.emplace(0, i);
    }
    for (const auto& [length, id] : by_length) {
        const auto [load, least] = loads.top();
        loads.pop();
        shard_of_.emplace(id, least);
        loads.emplace(load + length, least);
    }
}

bool ShardPlan::contains(std::uint64_t id) const {
    const auto found = shard_of_.find(id);
    return (found == shard_of_.end() ? id % shard_.count : found->second) == shard_.index;
}

std::uint64_t fingerprint_of(std::span<const std::uint64_t> ids) {
    std::uint64_t sum = ids.size();
    for (const std::uint64_t id : ids) {
        sum += core::mixed(id);
    }
    return sum;
}

}  // namespace dmlconform::run
