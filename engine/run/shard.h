// Shards: parts of a run that are executed elsewhere at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::run {

struct Shard {
    /// Counts from 0; below `count`.
    std::size_t index = 0;
    std::size_t count = 1;

    bool operator==(const Shard&) const = default;
};

/// For messages, counting from 1: "3/7".
[[nodiscard]] std::string to_string(const Shard& shard);
[[nodiscard]] core::Result<Shard> parse_shard(std::string_view text);

/// Returns an environment variable; empty if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The shard that a test runner or a batch system asks for.
struct ShardOfEnvironment {
    Shard shard;
    /// The names of the variables, for messages.
    std::string source;
    /// A file to create, which tells the test runner that shards are supported. May be empty.
    std::string status_file{};
};

/// Reads the variables of Bazel, GoogleTest and Slurm. Empty if none is set. Fails if they are invalid or contradict
/// each other.
[[nodiscard]] core::Result<std::optional<ShardOfEnvironment>> shard_of_environment(const Environment& environment);

/// A hash that is the same on every machine.
[[nodiscard]] std::uint64_t id_hash(std::string_view case_id);

/// How long each case took, in any unit, by id_hash.
using CaseDurations = std::unordered_map<std::uint64_t, double>;

/// Decides for every case whether it is in a shard. All shards of a run compute the same plan.
class ShardPlan {
public:
    /// Assigns cases by the hash of their ids, so that a new case does not move others.
    explicit ShardPlan(Shard shard) : shard_(shard) {}
    /// Balances the durations of the shards: assigns the longest case first, each to the shard with the least total so
    /// far. `ids` are the hashes of all cases of the run; a case without a duration counts as the median.
    ShardPlan(Shard shard, std::span<const std::uint64_t> ids, const CaseDurations& durations);

    [[nodiscard]] bool contains(std::uint64_t id) const;

private:
    Shard shard_;
    /// Empty if hashes decide.
    std::unordered_map<std::uint64_t, std::uint32_t> shard_of_;
};

/// The shard that a result file describes.
struct ShardInfo {
    Shard shard;
    /// The number of cases in all shards and in this one. Repetitions count separately.
    std::size_t cases_of_all = 0;
    std::size_t cases = 0;
    /// A fingerprint of the ids of all shards' cases.
    std::uint64_t fingerprint = 0;
    /// True if recorded durations decided instead of hashes.
    bool by_durations = false;
};

/// The fingerprint of a set of hashes. It does not depend on their order.
[[nodiscard]] std::uint64_t fingerprint_of(std::span<const std::uint64_t> ids);

}  // namespace dmlconform::run
