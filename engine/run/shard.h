// Which part of a run's cases is run here: the others are run elsewhere, at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::run {

struct Shard {
    /// From 0, below `count`.
    std::size_t index = 0;
    std::size_t count = 1;

    bool operator==(const Shard&) const = default;
};

/// "3/7": the third of seven.
[[nodiscard]] std::string to_string(const Shard& shard);
[[nodiscard]] core::Result<Shard> parse_shard(std::string_view text);

/// A variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// What a test runner or a batch system asks for by the environment.
struct ShardOfEnvironment {
    Shard shard;
    /// The variables that say so, for messages.
    std::string source;
    /// To be made, for the test runner to see that shards are known here; may be empty.
    std::string status_file{};
};

/// Bazel's, GoogleTest's and Slurm's. Nothing if none of them asks; an error if what they say is not a shard, or if two
/// of them say different things.
[[nodiscard]] core::Result<std::optional<ShardOfEnvironment>> shard_of_environment(const Environment& environment);

/// The same number for the same id everywhere.
[[nodiscard]] std::uint64_t id_hash(std::string_view case_id);

/// By id_hash: how long a case took, in any unit.
using CaseDurations = std::unordered_map<std::uint64_t, double>;

/// Says of every case whether it is in a shard. All shards of a run make the same plan.
class ShardPlan {
public:
    /// By the hash of the id alone, so that a new case moves no other.
    explicit ShardPlan(Shard shard) : shard_(shard) {}
    /// So that shards take equally long: the longest case first, each to the shard that has the least so far. `ids` are
    /// the hashes of all cases of the run; one without a duration counts as the median.
    ShardPlan(Shard shard, std::span<const std::uint64_t> ids, const CaseDurations& durations);

    [[nodiscard]] bool contains(std::uint64_t id) const;
    [[nodiscard]] const Shard& shard() const { return shard_; }

private:
    Shard shard_;
    /// Empty when hashes decide.
    std::unordered_map<std::uint64_t, std::uint32_t> shard_of_;
};

/// What a result says of the shard that it is of.
struct ShardInfo {
    Shard shard;
    /// Cases in all shards, and in this one; in repetitions, each counts again.
    std::size_t cases_of_all = 0;
    std::size_t cases = 0;
    /// Of the ids of all shards' cases: differs when they do.
    std::uint64_t fingerprint = 0;
    /// Whether recorded times decided, rather than ids.
    bool by_durations = false;
};

/// Independent of the order.
[[nodiscard]] std::uint64_t fingerprint_of(std::span<const std::uint64_t> ids);

}  // namespace dmlconform::run
