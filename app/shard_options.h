// The options by which a run is one of several that share the cases, and what test runners and batch systems ask for by
// the environment.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "engine/run/shard.h"

namespace dmlconform::app {

struct ShardOptions {
    std::string shard;
    /// A result to take times from.
    std::string durations;

    void add_to(Command command);
};

/// The shard that is asked for, by the option or else by the environment; nothing when all cases are to be run. Makes
/// the file by which a test runner sees that shards are known here, and says on stderr when the option counts against
/// the environment.
[[nodiscard]] core::Result<std::optional<run::Shard>> choose_shard(const ShardOptions& options);

/// Leaves the shard's cases in the selection, whose ids have to have been kept.
[[nodiscard]] core::Result<run::ShardInfo> take_shard(const ShardOptions& options, const run::Shard& shard,
                                                      Selection& selection);

/// Takes the filter and the path of the JUnit file from the environment where Bazel or GoogleTest give them
/// (TESTBRIDGE_TEST_ONLY, XML_OUTPUT_FILE; GTEST_FILTER, GTEST_OUTPUT). Options count first.
[[nodiscard]] core::Result<void> apply_test_environment(std::vector<std::string>& filters, std::string& junit);

}  // namespace dmlconform::app
